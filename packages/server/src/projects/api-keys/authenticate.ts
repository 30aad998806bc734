import { ADDRESS_LIMITS } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { type AppError, unauthorized } from "../../kernel/errors.ts";
import { addressBucket } from "../../kernel/net/address-bucket.ts";
import { rateLimited } from "../../kernel/rate-limiter.ts";
import { isApiKey } from "../../kernel/security/api-key-secret.ts";
import { createActorFinder } from "./find-actor.ts";
import type { LastUsed } from "./last-used.ts";

const scheme = "Bearer ";

export function authenticate(app: FastifyInstance, deps: Deps, lastUsed: LastUsed): void {
  const findActor = createActorFinder(deps.db);
  app.decorateRequest("actor");
  app.addHook("onRequest", (request, _reply, done) => {
    const secret = presentedKey(request);
    const admit = (actor: Actor | null) => {
      if (actor === null) {
        refuse(request, deps, explainRefusal(request, secret)).then(done, done);
        return;
      }
      request.actor = actor;
      lastUsed.touch(actor.keyId, deps.now());
      done();
    };
    const found = secret === null ? null : findActor(secret);
    if (found instanceof Promise) found.then(admit, done);
    else admit(found);
  });
}

async function refuse(request: FastifyRequest, deps: Deps, reason: string): Promise<AppError> {
  const address = `address:${addressBucket(request.clientAddress)}`;
  const hit = await deps.limiter.hit(address, ADDRESS_LIMITS.unauthenticated);
  return hit.isAllowed ? unauthorized(reason) : rateLimited(hit);
}

/** Helps whoever mixed up their keys. A key that was revoked and one that never was look the same. */
function explainRefusal({ raw }: FastifyRequest, secret: string | null): string {
  if (raw.headers.authorization === undefined) return "no key was sent";
  return secret !== null && isApiKey(secret) ? "the key is revoked or unknown" : "the key is malformed";
}

/** Exactly "Bearer", one space and the key, in one header. Node would drop a second one and say nothing. */
function presentedKey({ raw }: FastifyRequest): string | null {
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
