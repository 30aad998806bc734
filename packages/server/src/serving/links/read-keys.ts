import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { ENVIRONMENTS, type Environment, type ReadKeys } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { ReadKeyRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";

const purpose = "read key";

export interface KeyOwner {
  projectId: string;
  environment: Environment;
}

type KeyDeps = Pick<Deps, "db" | "keyring">;

const findReadKeys = statement((q, p: KeyOwner) =>
  q
    .selectFrom("read_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

/** Two first uses at once end with the same keys: those of the one that came first. */
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

/** Guarded by the key that was read: of two rotations at once, one finds nothing to change. */
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

export async function getReadKeys(deps: KeyDeps, owner: KeyOwner): Promise<ReadKeys> {
  return open(deps.keyring, await getOrCreate(deps, owner));
}

export async function getSigningKey(deps: KeyDeps, owner: KeyOwner): Promise<KeyObject> {
  return openKey(deps.keyring, (await getOrCreate(deps, owner)).current_sealed);
}

export async function getOrCreate({ db, keyring }: KeyDeps, owner: KeyOwner): Promise<ReadKeyRow> {
  const found = await db.recall(findReadKeys, owner);
  if (found !== null) return found;
  const [current, next] = [createReadKey(), createReadKey()].map((key) => keyring.encrypt(key, purpose));
  await db.run(insertReadKeys, { ...owner, current: current ?? "", next: next ?? "" });
  const created = await db.get(findReadKeys, owner);
  if (created === null) throw new Error("read keys were not written");
  return created;
}

/** Ends everything signed with the current key. The next key is accepted already, so signers can switch early. */
export async function rotateReadKeys(
  deps: KeyDeps,
  owner: KeyOwner,
  onRotated: (tx: Queryable) => Promise<void>,
): Promise<ReadKeys> {
  const row = await getOrCreate(deps, owner);
  const next = deps.keyring.encrypt(createReadKey(), purpose);
  const rotated = { ...row, current_sealed: row.next_sealed, next_sealed: next };
  await deps.db.transact(async (tx) => {
    if ((await tx.run(replaceReadKeys, { ...rotated, seenCurrent: row.current_sealed })) !== 1)
      throw rotatedMeanwhile();
    await onRotated(tx);
  });
  return open(deps.keyring, rotated);
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

function open(keyring: Keyring, row: ReadKeyRow): ReadKeys {
  return {
    current: keyring.decrypt(row.current_sealed, purpose),
    next: keyring.decrypt(row.next_sealed, purpose),
  };
}

function createReadKey(): string {
  return `rdk_${randomBytes(32).toString("base64url")}`;
}

function rotatedMeanwhile(): AppError {
  return new AppError("VALIDATION_ERROR", "The read keys were rotated by another call at the same moment.", {
    suggestion: "Read the keys as they are now; rotate again only if those must be replaced as well.",
    status: 409,
  });
}

const batchSize = 100;

/** Seals every key with the installation's newest secret. */
export async function resealReadKeys(deps: KeyDeps): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    let rows: ReadKeyRow[];
    let after = "";
    do {
      rows = await deps.db.all(listReadKeys, { environment, after, take: batchSize });
      for (const row of rows) await resealRow(deps, row);
      after = rows.at(-1)?.project_id ?? "";
    } while (rows.length === batchSize);
  }
}

async function resealRow(deps: KeyDeps, row: ReadKeyRow): Promise<void> {
  const [current, next] = [row.current_sealed, row.next_sealed].map((sealed) =>
    deps.keyring.reseal(sealed, purpose),
  );
  if (!current && !next) return;
  const changed = await deps.db.run(replaceReadKeys, {
    ...row,
    current_sealed: current ?? row.current_sealed,
    next_sealed: next ?? row.next_sealed,
    seenCurrent: row.current_sealed,
  });
  if (changed === 1) return;
  // Rotated meanwhile, by an instance that may know the older secret alone.
  const { project_id: projectId, environment } = row;
  const rotated = await deps.db.get(findReadKeys, { projectId, environment });
  if (rotated !== null) await resealRow(deps, rotated);
}
