import { ADDRESS_LIMITS } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { unauthorized } from "../errors.ts";
import type { Actor } from "../features/api-keys/actor.ts";
import type { LastUsed } from "../features/api-keys/last-used.ts";
import { findActorByKeyHash } from "../features/api-keys/queries.ts";
import { addressBucket } from "../net/address-bucket.ts";
import { hashApiKey, isApiKey } from "../security/api-key-secret.ts";
import { rateLimited } from "./rate-limit.ts";

/** Looks the key up on every request, so that a revocation holds at once on every instance. */
export function authenticate(app: FastifyInstance, deps: Deps, lastUsed: LastUsed): void {
  app.decorateRequest("actor");
  app.addHook("onRequest", async (request) => {
    const actor = await findActor(request, deps);
    if (actor === null) {
      const hit = await deps.limiter.hit(
        `address:${addressBucket(request.clientAddress)}`,
        ADDRESS_LIMITS.unauthenticated,
      );
      throw hit.isAllowed ? unauthorized() : rateLimited(hit);
    }
    request.actor = actor;
    lastUsed.touch(actor.keyId, deps.now());
  });
}

async function findActor(request: FastifyRequest, deps: Deps): Promise<Actor | null> {
  const secret = presentedKey(request);
  return secret === null ? null : deps.db.get(findActorByKeyHash, { hash: hashApiKey(secret) });
}

/** Exactly "Bearer", one space and the key, in one header. Node joins nothing here: a second header is dropped. */
function presentedKey(request: FastifyRequest): string | null {
  const distinct = request.raw.headersDistinct["authorization"];
  if (distinct?.length !== 1) return null;
  const header = distinct[0] ?? "";
  const secret = header.startsWith("Bearer ") ? header.slice("Bearer ".length) : "";
  return isApiKey(secret) ? secret : null;
}
