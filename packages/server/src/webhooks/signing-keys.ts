import { randomBytes } from "node:crypto";
import { ENVIRONMENTS, type Environment, type SigningKeys } from "@upstow/contract";
import type { Database, Queryable } from "../db/database.ts";
import type { WebhookSigningKeyRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import type { Keyring } from "../kernel/security/keyring.ts";
import type { KeysToSignWith } from "./sign-delivery.ts";

const overlapMs = 24 * 60 * 60 * 1000;
export const signingKeyPurpose = "webhook signing key";

export interface KeyOwner {
  projectId: string;
  environment: Environment;
}

interface KeyDeps {
  db: Database;
  keyring: Keyring;
  now: () => number;
}

export async function getSigningKeys(deps: KeyDeps, owner: KeyOwner): Promise<SigningKeys> {
  return open(deps.keyring, await getOrCreate(deps, owner));
}

/** After a rotation, the previous key still signs for receivers that are not updated yet. */
export async function getKeysToSignWith(deps: KeyDeps, owner: KeyOwner): Promise<KeysToSignWith> {
  const row = await getOrCreate(deps, owner);
  const isOverlap = row.rotated_at !== null && deps.now() < row.rotated_at + overlapMs;
  return {
    current: deps.keyring.decrypt(row.current_sealed, signingKeyPurpose),
    previous:
      isOverlap && row.previous_sealed !== null
        ? deps.keyring.decrypt(row.previous_sealed, signingKeyPurpose)
        : null,
  };
}

export interface Rotation {
  force: boolean;
  /** Called in the transaction that rotates. */
  onRotated: (tx: Queryable) => Promise<void>;
}

/**
 * A receiver with the old pair already has the new current key. This works for one step only, so of several calls that
 * read the same keys, forced or not, only one rotates them.
 */
export async function rotateSigningKeys(
  deps: KeyDeps,
  owner: KeyOwner,
  { force, onRotated }: Rotation,
): Promise<SigningKeys> {
  const row = await getOrCreate(deps, owner);
  const now = deps.now();
  if (!force && row.rotated_at !== null && now < row.rotated_at + overlapMs) throw tooSoon();
  const rotated: WebhookSigningKeyRow = {
    ...row,
    current_sealed: row.next_sealed,
    next_sealed: deps.keyring.encrypt(createSigningKey(), signingKeyPurpose),
    previous_sealed: row.current_sealed,
    rotated_at: now,
  };
  await deps.db.transact(async (tx) => {
    const changed = await tx.run(replaceSigningKeys, { ...rotated, seenCurrent: row.current_sealed });
    if (changed !== 1) throw force ? rotatedMeanwhile() : tooSoon();
    await onRotated(tx);
  });
  return open(deps.keyring, rotated);
}

async function getOrCreate({ db, keyring }: KeyDeps, owner: KeyOwner): Promise<WebhookSigningKeyRow> {
  const found = await db.get(findSigningKeys, owner);
  if (found !== null) return found;
  await db.run(insertSigningKeys, {
    ...owner,
    current: keyring.encrypt(createSigningKey(), signingKeyPurpose),
    next: keyring.encrypt(createSigningKey(), signingKeyPurpose),
  });
  const created = await db.get(findSigningKeys, owner);
  if (created === null) throw new Error("signing keys were not written");
  return created;
}

function open(keyring: Keyring, row: WebhookSigningKeyRow): SigningKeys {
  return {
    current: keyring.decrypt(row.current_sealed, signingKeyPurpose),
    next: keyring.decrypt(row.next_sealed, signingKeyPurpose),
  };
}

function createSigningKey(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function tooSoon(): AppError {
  return invalid(
    "force",
    "must be true to rotate again within 24 hours: receivers that know only the keys from before the last rotation would refuse every delivery",
  );
}

function rotatedMeanwhile(): AppError {
  return new AppError(
    "VALIDATION_ERROR",
    "The signing keys were rotated by another call at the same moment.",
    {
      suggestion: "Read the keys as they are now; rotate again only if those must be replaced as well.",
      status: 409,
    },
  );
}

export const findSigningKeys = statement((q, p: { projectId: string; environment: Environment }) =>
  q
    .selectFrom("webhook_signing_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

/** Two concurrent first uses end up with the same keys, those of the first. */
const insertSigningKeys = statement(
  (q, p: { projectId: string; environment: Environment; current: string; next: string }) =>
    q
      .insertInto("webhook_signing_key")
      .values({
        project_id: p.projectId,
        environment: p.environment,
        current_sealed: p.current,
        next_sealed: p.next,
        previous_sealed: null,
        rotated_at: null,
      })
      .onConflict((conflict) => conflict.columns(["project_id", "environment"]).doNothing()),
);

/** Guarded by the key that was read: of two concurrent rotations, one finds nothing to change. */
export const replaceSigningKeys = statement((q, p: WebhookSigningKeyRow & { seenCurrent: string }) =>
  q
    .updateTable("webhook_signing_key")
    .set({
      current_sealed: p.current_sealed,
      next_sealed: p.next_sealed,
      previous_sealed: p.previous_sealed,
      rotated_at: p.rotated_at,
    })
    .where("project_id", "=", p.project_id)
    .where("environment", "=", p.environment)
    .where("current_sealed", "=", p.seenCurrent),
);

export const listSigningKeys = statement((q, p: { environment: Environment; after: string; take: number }) =>
  q
    .selectFrom("webhook_signing_key")
    .selectAll()
    .where("environment", "=", p.environment)
    .where("project_id", ">", p.after)
    .orderBy("project_id")
    .limit(p.take),
);

const batchSize = 100;

type ResealDeps = Pick<Deps, "db" | "keyring">;

export async function resealSigningKeys(deps: ResealDeps): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    let rows: WebhookSigningKeyRow[];
    let after = "";
    do {
      rows = await deps.db.all(listSigningKeys, { environment, after, take: batchSize });
      for (const row of rows) await resealRow(deps, row);
      after = rows.at(-1)?.project_id ?? "";
    } while (rows.length === batchSize);
  }
}

async function resealRow(deps: ResealDeps, row: WebhookSigningKeyRow): Promise<void> {
  const reseal = (sealed: string | null) => sealed && deps.keyring.reseal(sealed, signingKeyPurpose);
  const [current, next] = [reseal(row.current_sealed), reseal(row.next_sealed)];
  const previous = reseal(row.previous_sealed);
  if (current === null && next === null && previous === null) return;
  const changed = await deps.db.run(replaceSigningKeys, {
    ...row,
    current_sealed: current ?? row.current_sealed,
    next_sealed: next ?? row.next_sealed,
    previous_sealed: previous ?? row.previous_sealed,
    seenCurrent: row.current_sealed,
  });
  if (changed === 1) return;
  // Rotated meanwhile, by an instance that may only know the older secret.
  const { project_id: projectId, environment } = row;
  const rotated = await deps.db.get(findSigningKeys, { projectId, environment });
  if (rotated !== null) await resealRow(deps, rotated);
}
