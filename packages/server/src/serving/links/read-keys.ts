import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Environment, ReadKeys } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import { createKeyPairs, type KeyOwner } from "../../db/key-pairs.ts";
import type { ReadKeyRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";

const purpose = "read key";

type KeyDeps = Pick<Deps, "db" | "keyring">;

const findReadKeys = statement((q, p: KeyOwner) =>
  q
    .selectFrom("read_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

const insertReadKeys = statement((q, p: KeyOwner & { current: string; next: string }) =>
  q
    .insertInto("read_key")
    .values({
      project_id: p.projectId,
      environment: p.environment,
      current_sealed: p.current,
      next_sealed: p.next,
      revoked_at: 0,
    })
    .onConflict((conflict) => conflict.columns(["project_id", "environment"]).doNothing()),
);

const replaceReadKeys = statement((q, p: ReadKeyRow & { seenCurrent: string }) =>
  q
    .updateTable("read_key")
    .set({ current_sealed: p.current_sealed, next_sealed: p.next_sealed })
    .where("project_id", "=", p.project_id)
    .where("environment", "=", p.environment)
    .where("current_sealed", "=", p.seenCurrent),
);

const listReadKeys = statement((q, p: { environment: Environment; after: string; take: number }) =>
  q
    .selectFrom("read_key")
    .selectAll()
    .where("environment", "=", p.environment)
    .where("project_id", ">", p.after)
    .orderBy("project_id")
    .limit(p.take),
);

const pairs = createKeyPairs<ReadKeyRow>({
  purpose,
  createKey: () => `rdk_${randomBytes(32).toString("base64url")}`,
  find: findReadKeys,
  insert: insertReadKeys,
  replace: replaceReadKeys,
  list: listReadKeys,
});

export const { getOrCreate, reseal: resealReadKeys } = pairs;

export async function getReadKeys(deps: KeyDeps, owner: KeyOwner): Promise<ReadKeys> {
  return pairs.open(deps, await getOrCreate(deps, owner));
}

export async function getSigningKey(deps: KeyDeps, owner: KeyOwner): Promise<KeyObject> {
  return openKey(deps.keyring, (await getOrCreate(deps, owner)).current_sealed);
}

/** Ends everything signed with the current key. The next key is accepted already, so signers can switch early. */
export async function rotateReadKeys(
  deps: KeyDeps,
  owner: KeyOwner,
  onRotated: (tx: Queryable) => Promise<void>,
): Promise<ReadKeys> {
  const row = await getOrCreate(deps, owner);
  const rotated = pairs.rotated(deps, row);
  await deps.db.transact(async (tx) => {
    if (!(await pairs.replaceSeen(tx, row, rotated))) throw rotatedMeanwhile();
    await onRotated(tx);
  });
  return pairs.open(deps, rotated);
}

/** Decrypting a key takes longer than serving a file. */
const opened = createShortMemory<KeyObject>(10_000);

/** Both keys verify. */
export function openKeys(
  keyring: Keyring,
  { current_sealed, next_sealed }: { current_sealed: string | null; next_sealed: string | null },
): KeyObject[] {
  return [current_sealed, next_sealed]
    .filter((sealed) => sealed !== null)
    .map((sealed) => openKey(keyring, sealed));
}

function openKey(keyring: Keyring, sealed: string): KeyObject {
  let key = opened.find(sealed);
  if (key === undefined) {
    key = createSecretKey(Buffer.from(keyring.decrypt(sealed, purpose)));
    opened.remember(sealed, key);
  }
  return key;
}

function rotatedMeanwhile(): AppError {
  return new AppError("VALIDATION_ERROR", "The read keys were rotated by another call at the same moment.", {
    suggestion: "Get the current keys; rotate again only if they must be replaced as well.",
    status: 409,
  });
}
