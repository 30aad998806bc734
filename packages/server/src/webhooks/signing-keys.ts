import { randomBytes } from "node:crypto";
import type { Environment, SigningKeys } from "@upstow/contract";
import type { Database, Queryable } from "../db/database.ts";
import type { WebhookSigningKeyTable } from "../db/schema.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import type { Keyring } from "../kernel/security/keyring.ts";
import type { KeysToSignWith } from "./sign-delivery.ts";
import { findSigningKeys, insertSigningKeys, replaceSigningKeys } from "./signing-key-queries.ts";

const overlapMs = 24 * 60 * 60 * 1000;
export const purpose = "webhook signing key";

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

/** After a rotation the key before it still signs for receivers that have not heard yet. */
export async function getKeysToSignWith(deps: KeyDeps, owner: KeyOwner): Promise<KeysToSignWith> {
  const row = await getOrCreate(deps, owner);
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
 * A receiver that knows the old pair knows the new current key already. That holds for one step only, so of several calls
 * that found the same keys, forced or not, one rotates them.
 */
export async function rotateSigningKeys(
  deps: KeyDeps,
  owner: KeyOwner,
  { force, onRotated }: Rotation,
): Promise<SigningKeys> {
  const row = await getOrCreate(deps, owner);
  const now = deps.now();
  if (!force && row.rotated_at !== null && now < row.rotated_at + overlapMs) throw tooSoon();
  const rotated: WebhookSigningKeyTable = {
    ...row,
    current_sealed: row.next_sealed,
    next_sealed: deps.keyring.encrypt(createSigningKey(), purpose),
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

async function getOrCreate({ db, keyring }: KeyDeps, owner: KeyOwner): Promise<WebhookSigningKeyTable> {
  const found = await db.get(findSigningKeys, owner);
  if (found !== null) return found;
  await db.run(insertSigningKeys, {
    ...owner,
    current: keyring.encrypt(createSigningKey(), purpose),
    next: keyring.encrypt(createSigningKey(), purpose),
  });
  const created = await db.get(findSigningKeys, owner);
  if (created === null) throw new Error("signing keys were not written");
  return created;
}

function open(keyring: Keyring, row: WebhookSigningKeyTable): SigningKeys {
  return {
    current: keyring.decrypt(row.current_sealed, purpose),
    next: keyring.decrypt(row.next_sealed, purpose),
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
