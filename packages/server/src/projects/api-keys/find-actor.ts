import type { Database } from "../../db/database.ts";
import type { Actor } from "../../kernel/actor.ts";
import { hashApiKey, isApiKey } from "../../kernel/security/api-key-secret.ts";
import { findActorByKeyHash } from "./queries.ts";

const mostHashes = 10_000;

/** Who a key stands for. A revocation holds at once on every instance. */
export function createActorFinder(db: Database): (secret: string) => Actor | null | Promise<Actor | null> {
  const hashes = new Map<string, string>();

  function hashOf(secret: string): string | null {
    const known = hashes.get(secret);
    if (known !== undefined) return known;
    if (!isApiKey(secret)) return null;
    if (hashes.size >= mostHashes) hashes.clear();
    const hash = hashApiKey(secret);
    hashes.set(secret, hash);
    return hash;
  }

  return (secret) => {
    const hash = hashOf(secret);
    if (hash === null) return null;
    return db.recall(findActorByKeyHash, hash, () => ({ hash }));
  };
}
