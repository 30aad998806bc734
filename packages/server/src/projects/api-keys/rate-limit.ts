import { ACCOUNT_RATE_FACTOR, RATE_WINDOW_SEC, type RateLimits, type RateWindowName } from "@upstow/contract";
import type { FastifyInstance, onRequestHookHandler } from "fastify";
import type { Deps } from "../../deps.ts";
import { addRouteHook } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { type RateLimitPair, type RateWindow, rateLimited } from "../../kernel/rate-limiter.ts";
import { writeLog } from "../logs/queries.ts";

type LimitDeps = Pick<Deps, "config" | "db" | "limiter" | "log" | "now">;

/** Three windows per key and wider ones per account; every response shows what is left (IETF RateLimit fields). */
export function limitRates(app: FastifyInstance, deps: LimitDeps): void {
  const mention = createMentions((met) => tellOfLimit(deps, met));
  app.addHook("onRoute", (route) => {
    addRouteHook(route, "onRequest", countTo(route.config?.rateWindow ?? "other", deps, mention));
  });
}

/** For a request of a door that counts some of its calls only. */
export function createUploadCount(deps: LimitDeps): onRequestHookHandler {
  return countTo(
    "upload",
    deps,
    createMentions((met) => tellOfLimit(deps, met)),
  );
}

interface Windows {
  key: RateWindow;
  account: RateWindow;
  policy: string;
}

/** A window that a request found full. */
interface MetLimit {
  window: RateWindow;
  endsInSec: number;
  actor: Actor;
  bucket: RateWindowName;
  isOfAccount: boolean;
}

function countTo(
  bucket: RateWindowName,
  { config, limiter }: LimitDeps,
  mention: (met: MetLimit) => void,
): onRequestHookHandler {
  // Calls with the same key share one actor object, so cached strings are built and hashed only once.
  const known = new WeakMap<Actor, Windows | null>();

  function windowsOf(actor: Actor): Windows | null {
    let windows = known.get(actor);
    if (windows === undefined) {
      windows = createWindows(actor, bucket, rateLimitFor(actor, bucket, config.rateLimits));
      known.set(actor, windows);
    }
    return windows;
  }

  return (request, reply, done) => {
    const { actor } = request;
    const windows = windowsOf(actor);
    if (windows === null) {
      done();
      return;
    }
    const tell = ({ own, shared }: RateLimitPair) => {
      const isOfAccount = shared !== null && !shared.isAllowed;
      const hit = isOfAccount ? shared : own;
      reply.header("ratelimit-policy", isOfAccount ? policyOf(bucket, windows.account) : windows.policy);
      reply.header("ratelimit", `"${bucket}";r=${hit.remaining};t=${hit.resetSec}`);
      if (hit.isAllowed) {
        done();
        return;
      }
      const window = isOfAccount ? windows.account : windows.key;
      mention({ window, endsInSec: hit.resetSec, actor, bucket, isOfAccount });
      done(rateLimited(hit));
    };
    limiter.hitBoth(windows.key, windows.account).then(tell, done);
  };
}

function createWindows(actor: Actor, bucket: RateWindowName, limit: number | null): Windows | null {
  if (limit === null) return null;
  const key = { name: `key:${actor.keyId}:${bucket}`, limit };
  const account = { name: `account:${actor.accountId}:${bucket}`, limit: limit * ACCOUNT_RATE_FACTOR };
  return { key, account, policy: policyOf(bucket, key) };
}

const policyOf = (bucket: RateWindowName, { limit }: RateWindow) =>
  `"${bucket}";q=${limit};w=${RATE_WINDOW_SEC}`;

const mostMentioned = 10_000;

/** Once per window, or a client that keeps calling would fill the log. */
function createMentions(tell: (met: MetLimit) => void): (met: MetLimit) => void {
  const mentioned = new Map<string, number>();
  return (met) => {
    const now = performance.now();
    if (now < (mentioned.get(met.window.name) ?? 0)) return;
    if (mentioned.size >= mostMentioned) mentioned.clear();
    mentioned.set(met.window.name, now + met.endsInSec * 1000);
    tell(met);
  };
}

/** Logged for the operator and in the project's own log. Not awaited. */
function tellOfLimit({ db, log, now }: LimitDeps, { window, actor, bucket, isOfAccount }: MetLimit): void {
  const { keyId, projectId, accountId, environment } = actor;
  const data = { keyId, window: bucket, limit: window.limit };
  const who = isOfAccount ? "All keys of the account together" : "An API key";
  const met = `${who} reached the rate limit of ${window.limit} requests per minute ("${bucket}").`;
  log.warn(
    { ...data, projectId, accountId },
    `${met} Raise it with UPSTOW_RATE_LIMITS, or for one Enterprise account in the dashboard or with 'upstow account set-limits'.`,
  );
  const message = `${met} The operator of this service can raise it.`;
  const entry = { projectId, environment, type: "rate.limited", message, data } as const;
  db.transact((tx) => writeLog(tx, now(), entry)).catch((error: unknown) =>
    log.debug({ err: error }, "a reached rate limit was not recorded in the project's log"),
  );
}

type OwnLimits = Pick<Actor, "tier" | "rateUpload" | "rateTransform" | "rateOther">;

/** Requests per window of a key. Enterprise accounts may have their own limits; all others get the installation's. */
export function rateLimitFor(actor: OwnLimits, bucket: RateWindowName, defaults: RateLimits): number | null {
  if (actor.tier !== "enterprise") return defaults[bucket];
  const own =
    bucket === "upload" ? actor.rateUpload : bucket === "transform" ? actor.rateTransform : actor.rateOther;
  return own ?? defaults[bucket];
}
