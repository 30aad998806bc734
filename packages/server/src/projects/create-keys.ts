import type { KeyType, ProjectKey } from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { Actor } from "../kernel/actor.ts";
import { createCountedKey } from "./api-keys/api-keys.ts";

/** The first keys of a project, created together with it so that automation can go on without the dashboard. */
export async function createKeysFor(
  tx: Queryable,
  now: number,
  { accountId, tier }: Pick<Actor, "accountId" | "tier">,
  projectId: string,
  types: readonly KeyType[],
): Promise<ProjectKey[]> {
  const keys: ProjectKey[] = [];
  for (const type of types) {
    const wanted = { projectId, tier, type, name: `${type} key` };
    const { key, secret } = await createCountedKey(tx, now, accountId, wanted);
    keys.push({ id: key.id, type, prefix: key.prefix, secret });
  }
  return keys;
}
