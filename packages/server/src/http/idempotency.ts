import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { IDEMPOTENCY_KEY_MAX } from "@upstow/contract";
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendHookHandler,
  preHandlerHookHandler,
} from "fastify";
import type { Database, Queryable } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import { randomText } from "../kernel/ids.ts";
import { claimCall, dropClaim, extendClaim, findCall, recordAnswer } from "./idempotency-queries.ts";
import { addRouteHook } from "./request-context.ts";

/**
 * Lets a POST be repeated with the same Idempotency-Key. A use case that changes rows records its response in the same
 * transaction, so that a crash leaves either both or neither.
 */
export interface Idempotency {
  /** Call it inside the transaction. `answer` contains no secret: what cannot be stored is omitted or recreated. */
  remember(tx: Queryable, status: number, answer: unknown): Promise<void>;
  /** Call it inside each of several transactions: a repeated call replaces one that is silent for too long. */
  hold(tx: Queryable): Promise<void>;
  /** An earlier call with this key died without recording a response, but may have changed something. */
  readonly isTakeover: boolean;
}

/** After a crash a repeated call waits this long. A call that takes longer is renewed while its process lives. */
const leaseMs = 8_000;
const renewEveryMs = 2_000;
/** A handler that hangs loses its place in the end. */
const renewAtMostMs = 60_000;
const waitAtMostMs = 35_000;
const notAsked: Idempotency = { remember: async () => {}, hold: async () => {}, isTakeover: false };

export function honourIdempotencyKeys(app: FastifyInstance, { db, log }: Pick<Deps, "db" | "log">): void {
  const open = new WeakMap<FastifyRequest, Claim>();
  const renewals = createRenewals(db);
  app.addHook("onClose", async () => renewals.close());

  const claim: preHandlerHookHandler = (request, reply, done) => {
    request.idempotency = notAsked;
    const key = readKey(request);
    if (key === null) done();
    else claimOrAnswer(request, reply, key).then((isAnswered) => (isAnswered ? undefined : done()), done);
  };

  async function claimOrAnswer(request: FastifyRequest, reply: FastifyReply, key: string): Promise<boolean> {
    const outcome = await claimOrReplay(db, request, key);
    if (!("answer" in outcome)) {
      open.set(request, outcome);
      renewals.add(outcome);
      request.idempotency = outcome;
      return false;
    }
    const { replay } = request.routeOptions.config;
    const isAsItWas = replay === undefined || outcome.status >= 400;
    const body = isAsItWas ? outcome.answer : await replay(request, outcome.answer);
    await reply.code(outcome.status).header("idempotency-replayed", "true").send(body);
    return true;
  }

  // Responses not recorded by a transaction: rejections are stored, errors that may succeed later are not.
  const settle: onSendHookHandler = (request, reply, payload, done) => {
    const held = open.get(request);
    if (held === undefined) done(null, payload);
    else settleClaim(held, request, reply, payload).then(() => done(null, payload), done);
  };

  async function settleClaim(
    held: Claim,
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
  ): Promise<void> {
    renewals.remove(held);
    const isFinal = reply.statusCode < 500 && reply.statusCode !== 429 && typeof payload === "string";
    // A recorded response is removed if the call was rejected after all.
    if (isFinal && held.isRecorded && reply.statusCode < 400) return;
    try {
      if (isFinal) await held.rememberText(db, reply.statusCode, payload);
      else await db.run(dropClaim, { scope: held.scope, claim: held.id });
    } catch (error) {
      // A second failure would replace our error response by the framework's own; the claim ends with its lease anyway.
      log.warn({ err: error, requestId: request.id }, "an idempotent call was not settled");
    }
  }

  app.addHook("onRoute", (route) => {
    if (route.method !== "POST") return;
    addRouteHook(route, "preHandler", claim);
    addRouteHook(route, "onSend", settle);
  });
}

interface Claim extends Idempotency {
  scope: string;
  id: string;
  isRecorded: boolean;
  /** When it was made, or held last, by this process's own clock. */
  heldAtMs: number;
  rememberText(tx: Queryable, status: number, text: string): Promise<void>;
}

async function claimOrReplay(db: Database, request: FastifyRequest, key: string): Promise<Claim | Replay> {
  const path = request.url.split("?", 1)[0];
  const scope = hash("sha256", [request.actor.keyId, request.method, path, key].join("\n"));
  const requestHash = hash("sha256", request.bodyText ?? "");
  const claim = randomText(16);
  const deadline = performance.now() + waitAtMostMs;
  for (let pauseMs = 10; performance.now() < deadline; pauseMs = Math.min(200, pauseMs * 2)) {
    const [won] = await db.change(claimCall, { scope, requestHash, claim, leaseMs });
    if (won !== undefined) return createClaim(scope, claim, won.lease_until - won.created_at > leaseMs);
    const first = await db.get(findCall, { scope });
    if (first !== null && first.request_hash !== requestHash) {
      throw invalid("Idempotency-Key", "was already used with another body");
    }
    if (first?.status != null) {
      return { status: first.status, answer: JSON.parse(first.response ?? "null") };
    }
    await wait(pauseMs);
  }
  throw new AppError(
    "SERVICE_UNAVAILABLE",
    "The first call with this Idempotency-Key has not finished yet.",
    {
      suggestion: "Try again in a few seconds.",
      headers: { "retry-after": "5" },
    },
  );
}

interface Replay {
  status: number;
  answer: unknown;
}

function createClaim(scope: string, id: string, isTakeover: boolean): Claim {
  const claim: Claim = {
    scope,
    id,
    isTakeover,
    isRecorded: false,
    heldAtMs: performance.now(),
    remember: (tx, status, answer) => claim.rememberText(tx, status, JSON.stringify(answer)),
    async rememberText(tx, status, text) {
      const recorded = await tx.run(recordAnswer, { scope, claim: id, status, response: text });
      if (recorded !== 1) throw tookTooLong();
      claim.isRecorded = true;
    },
    async hold(tx) {
      const extended = await tx.run(extendClaim, { scope, claim: id, leaseMs });
      if (extended !== 1) throw tookTooLong();
      claim.heldAtMs = performance.now();
    },
  };
  return claim;
}

/** Keeps the leases of calls in progress, so that they can be short. Most calls end before their first renewal. */
function createRenewals(db: Database) {
  const claims = new Set<Claim>();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const { scope, id, isRecorded, heldAtMs } of claims) {
      const ageMs = nowMs - heldAtMs;
      if (isRecorded || ageMs < renewEveryMs || ageMs > renewAtMostMs) continue;
      // If it fails, the next renewal may still be in time; a lost lease is noticed when the response is recorded.
      db.run(extendClaim, { scope, claim: id, leaseMs }).catch(() => {});
    }
  }, renewEveryMs).unref();
  return {
    add: (claim: Claim) => void claims.add(claim),
    remove: (claim: Claim) => void claims.delete(claim),
    close: () => clearInterval(timer),
  };
}

function tookTooLong(): AppError {
  return new AppError("SERVICE_UNAVAILABLE", "This call took too long and was replaced by another one.", {
    headers: { "retry-after": "1" },
  });
}

function readKey(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length > IDEMPOTENCY_KEY_MAX || !/^[\x21-\x7e]+$/.test(key)) {
    throw invalid("Idempotency-Key", `must be 1 to ${IDEMPOTENCY_KEY_MAX} visible ASCII characters`);
  }
  return key;
}
