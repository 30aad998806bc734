import { randomBytes } from "node:crypto";
import type { Environment, SigningKeys } from "@upstow/contract";
import type { Database, Queryable } from "../db/database.ts";
import { createKeyPairs, type KeyOwner } from "../db/key-pairs.ts";
import type { WebhookSigningKeyRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import type { Keyring } from "../kernel/security/keyring.ts";
import type { KeysToSignWith } from "./sign-delivery.ts";

const overlapMs = 24 * 60 * 60 * 1000;
const purpose = "webhook signing key";

interface KeyDeps {
  db: Database;
  keyring: Keyring;
  now: () => number;
}

const findSigningKeys = statement((q, p: KeyOwner) =>
  q
    .selectFrom("webhook_signing_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

const insertSigningKeys = statement((q, p: KeyOwner & { current: string; next: string }) =>
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

const replaceSigningKeys = statement((q, p: WebhookSigningKeyRow & { seenCurrent: string }) =>
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

const listSigningKeys = statement((q, p: { environment: Environment; after: string; take: number }) =>
  q
    .selectFrom("webhook_signing_key")
    .selectAll()
    .where("environment", "=", p.environment)
    .where("project_id", ">", p.after)
    .orderBy("project_id")
    .limit(p.take),
);

const pairs = createKeyPairs<WebhookSigningKeyRow>({
  purpose,
  createKey: () => `whsec_${randomBytes(32).toString("base64")}`,
  find: findSigningKeys,
  insert: insertSigningKeys,
  replace: replaceSigningKeys,
  list: listSigningKeys,
});

export const { reseal: resealSigningKeys } = pairs;

export async function getSigningKeys(deps: KeyDeps, owner: KeyOwner): Promise<SigningKeys> {
  return pairs.open(deps, await pairs.getOrCreate(deps, owner));
}

/** After a rotation, the previous key still signs for receivers that are not updated yet. */
export async function getKeysToSignWith(deps: KeyDeps, owner: KeyOwner): Promise<KeysToSignWith> {
  const row = await pairs.getOrCreate(deps, owner);
  const isOverlap = row.rotated_at !== null && deps.now() < row.rotated_at + overlapMs;
  return {
    current: deps.keyring.decrypt(row.current_sealed, purpose),
    previous:
      isOverlap && row.previous_sealed !== null ? deps.keyring.decrypt(row.previous_sealed, purpose) : null,
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
  const row = await pairs.getOrCreate(deps, owner);
  const now = deps.now();
  if (!force && row.rotated_at !== null && now < row.rotated_at + overlapMs) throw tooSoon();
  const rotated = { ...pairs.rotated(deps, row), previous_sealed: row.current_sealed, rotated_at: now };
  await deps.db.transact(async (tx) => {
    if (!(await pairs.replaceSeen(tx, row, rotated))) throw force ? rotatedMeanwhile() : tooSoon();
    await onRotated(tx);
  });
  return pairs.open(deps, rotated);
}

function tooSoon(): AppError {
  return invalid(
    "force",
    "must be true to rotate again within 24 hours: receivers that know only the keys from before the last rotation would reject every delivery",
  );
}

function rotatedMeanwhile(): AppError {
  return new AppError(
    "VALIDATION_ERROR",
    "The signing keys were rotated by another call at the same moment.",
    {
      suggestion: "Get the current keys; rotate again only if they must be replaced as well.",
      status: 409,
    },
  );
}
