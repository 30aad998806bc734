import { ADDRESS_LIMITS } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Database } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { type AppError, unauthorized } from "../../kernel/errors.ts";
import { addressGroup } from "../../kernel/net/cidr-list.ts";
import { rateLimited } from "../../kernel/rate-limiter.ts";
import { hashApiKey, isApiKey } from "../../kernel/security/api-key-secret.ts";
import { findActorByKeyHash, setLastUsed } from "./queries.ts";

const scheme = "Bearer ";

export function authenticate(app: FastifyInstance, deps: Deps, lastUsed: LastUsed): void {
  const check = createKeyCheck(deps, lastUsed);
  app.decorateRequest("author", {
    getter() {
      const { keyId: id, name } = this.actor;
      const userAgent = this.headers["user-agent"] ?? "";
      return { kind: "key", id, name, address: this.clientAddress, userAgent } as const;
    },
  });
  app.addHook("onRequest", (request, _reply, done) => {
    check(request).then((actor) => {
      request.actor = actor;
      done();
    }, done);
  });
}

/** Finds the actor of a request's key, or throws 401. */
export function createKeyCheck(deps: Deps, lastUsed: LastUsed): (request: FastifyRequest) => Promise<Actor> {
  const hashOf = createKeyHasher();
  return async (request) => {
    const secret = presentedKey(request);
    const hash = secret === null ? null : hashOf(secret);
    // Revocations take effect immediately on every instance.
    const actor = hash === null ? null : await deps.db.recall(findActorByKeyHash, { hash });
    if (actor === null) throw await refuse(request, deps, explainRefusal(request, secret));
    lastUsed.touch(actor.keyId, deps.now());
    return actor;
  };
}

/** Guessing is limited per address. */
export async function refuse(
  request: FastifyRequest,
  deps: Pick<Deps, "limiter">,
  reason: string | AppError,
): Promise<AppError> {
  const address = `address:${addressGroup(request.clientAddress)}`;
  const hit = await deps.limiter.hit(address, ADDRESS_LIMITS.unauthenticated);
  if (!hit.isAllowed) return rateLimited(hit);
  return typeof reason === "string" ? unauthorized(reason) : reason;
}

/** Helps callers who mixed up their keys. Revoked and unknown keys are indistinguishable. */
function explainRefusal({ raw }: FastifyRequest, secret: string | null): string {
  if (raw.headers.authorization === undefined) return "no key was sent";
  return secret !== null && isApiKey(secret) ? "the key is revoked or unknown" : "the key is malformed";
}

/** Exactly "Bearer", one space and the key, in one header. Node would silently drop a second one. */
export function presentedKey({ raw }: FastifyRequest): string | null {
  const header = raw.headers.authorization;
  if (header === undefined || !header.startsWith(scheme)) return null;
  return countHeaders(raw.rawHeaders, "authorization") === 1 ? header.slice(scheme.length) : null;
}

function countHeaders(namesAndValues: string[], name: string): number {
  let count = 0;
  for (let i = 0; i < namesAndValues.length; i += 2) {
    const candidate = namesAndValues[i] as string;
    if (candidate.length === name.length && candidate.toLowerCase() === name) count++;
  }
  return count;
}

const mostHashes = 10_000;

/** The hash by which a key is found; null if it is malformed. */
function createKeyHasher(): (secret: string) => string | null {
  const hashes = new Map<string, string>();
  return (secret) => {
    const known = hashes.get(secret);
    if (known !== undefined) return known;
    if (!isApiKey(secret)) return null;
    if (hashes.size >= mostHashes) hashes.clear();
    const hash = hashApiKey(secret);
    hashes.set(secret, hash);
    return hash;
  };
}

export interface LastUsed {
  touch(keyId: string, at: number): void;
  flush(): Promise<void>;
}

/** Tracks when each key was used and saves that periodically, not once per request. */
export function createLastUsed(db: Database): LastUsed {
  let seen = new Map<string, number>();
  return {
    touch(keyId, at) {
      seen.set(keyId, at);
    },
    async flush() {
      if (seen.size === 0) return;
      const batch = seen;
      seen = new Map();
      // In the same order on every instance, to avoid deadlocks.
      const entries = [...batch].sort(([a], [b]) => (a < b ? -1 : 1));
      try {
        await db.transact(async (tx) => {
          for (const [id, at] of entries) await tx.run(setLastUsed, { id, at });
        });
      } catch (error) {
        seen = new Map([...batch, ...seen]);
        throw error;
      }
    },
  };
}
