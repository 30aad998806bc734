import type { Database } from "../../db/database.ts";
import { hashApiKey, isApiKey } from "../../security/api-key-secret.ts";
import type { Actor } from "./actor.ts";
import { findActorByKeyHash } from "./queries.ts";

const mostHashes = 10_000;

/** Who a key stands for. A revocation holds at once on every instance. */
export function createActorFinder(db: Database): (secret: string) => Actor | null | Promise<Actor | null> {
  const hashes = new Map<string, string>();

  return (secret) => {
    let hash = hashes.get(secret);
    if (hash === undefined) {
      if (!isApiKey(secret)) return null;
      hash = hashApiKey(secret);
      if (hashes.size >= mostHashes) hashes.clear();
      hashes.set(secret, hash);
    }
    return db.recall(findActorByKeyHash, { hash });
  };
}
