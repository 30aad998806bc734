import type { Database } from "../../db/database.ts";
import { hashApiKey, isApiKey } from "../../security/api-key-secret.ts";
import type { Actor } from "./actor.ts";
import { findActorByKeyHash } from "./queries.ts";

const mostRemembered = 10_000;

/**
 * Who a key stands for. A revocation holds at once on every instance: what was found is remembered only for as long
 * as the database can tell, without being asked for the row, that nobody has changed anything.
 */
export function createActorFinder(db: Database): (secret: string) => Actor | null | Promise<Actor | null> {
  const known = new Map<string, Actor>();
  let asOf: number | null = null;

  async function look(secret: string): Promise<Actor | null> {
    const before = asOf;
    const actor = await db.get(findActorByKeyHash, { hash: hashApiKey(secret) });
    if (actor !== null && before !== null && before === asOf) known.set(secret, actor);
    return actor;
  }

  return (secret) => {
    const revision = db.revision();
    if (revision !== asOf || known.size >= mostRemembered) {
      known.clear();
      asOf = revision;
    }
    const actor = known.get(secret);
    if (actor !== undefined) return actor;
    return isApiKey(secret) ? look(secret) : null;
  };
}
