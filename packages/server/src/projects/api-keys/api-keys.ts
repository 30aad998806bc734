import { KEYS_PER_HOUR, type KeyType, TIERS, type TierName } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { ApiKeyRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { type Actor, type Author, serviceAuthor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound, raiseTier, unauthorized } from "../../kernel/errors.ts";
import { createId, isId } from "../../kernel/ids.ts";
import { createApiKeySecret } from "../../kernel/security/api-key-secret.ts";
import { findAccountOfProject } from "../accounts/queries.ts";
import { record } from "../audit/record.ts";
import { writeLog } from "../logs/queries.ts";
import {
  countActiveKeys,
  countKeyCreation,
  findKey,
  findKeyCreations,
  freeKeyPlace,
  insertKey,
  revokeKeyRow,
  takeKeyPlace,
} from "./queries.ts";

const hourMs = 3_600_000;

export interface NewKey {
  projectId: string;
  tier: TierName;
  type: KeyType;
  name: string;
  author?: Author;
}

/** A key requested by a user. Operator commands call `createKey` directly and are not counted. */
export async function createCountedKey(
  tx: Queryable,
  now: number,
  accountId: string,
  wanted: NewKey,
): Promise<{ key: ApiKeyRow; secret: string }> {
  const created = await createKey(tx, now, wanted);
  // After the project's row, in the same order as when a project is deleted.
  const counted = await tx.get(countKeyCreation, { accountId, limit: KEYS_PER_HOUR, now, windowMs: hourMs });
  if (counted !== null) return created;
  const since = (await tx.get(findKeyCreations, { accountId }))?.keys_made_since ?? now;
  const resetSec = Math.max(1, Math.ceil((since + hourMs - now) / 1000));
  throw new AppError(
    "RATE_LIMITED",
    `An account can create ${KEYS_PER_HOUR} API keys per hour. Retry after ${resetSec} seconds.`,
    { headers: { "retry-after": String(resetSec) } },
  );
}

export async function createKey(
  tx: Queryable,
  now: number,
  wanted: NewKey,
): Promise<{ key: ApiKeyRow; secret: string }> {
  await takePlace(tx, wanted);
  const { secret, hash, prefix } = createApiKeySecret(wanted.type);
  const key: ApiKeyRow = {
    id: createId(now),
    project_id: wanted.projectId,
    name: wanted.name,
    type: wanted.type,
    hash,
    prefix,
    last_used_at: null,
    created_at: now,
    revoked_at: null,
  };
  await tx.run(insertKey, key);
  await writeLog(tx, now, {
    projectId: wanted.projectId,
    environment: wanted.type,
    type: "key.created",
    message: `API key "${wanted.name}" was created.`,
    data: { keyId: key.id, prefix },
  });
  await record(tx, now, wanted.author ?? serviceAuthor, {
    action: "key.created",
    target: { kind: "key", id: key.id, label: key.name },
    projectId: key.project_id,
    after: key,
  });
  return { key, secret };
}

/** Live and test keys are counted separately, so that there is room to rotate either. */
async function takePlace(tx: Queryable, { projectId, tier, type }: NewKey): Promise<void> {
  const limit = TIERS[tier].keysPerProject;
  const place = await tx.get(takeKeyPlace, { projectId });
  const active = place === null || limit === null ? null : await tx.get(countActiveKeys, { projectId, type });
  if (place !== null && (limit === null || Number(active?.count) < limit)) return;
  throw new AppError("TIER_LIMIT_EXCEEDED", `The ${tier} tier allows ${limit} ${type} keys per project.`, {
    suggestion: `Revoke a key you no longer use, or ${raiseTier}.`,
  });
}

/** A key can only create keys of its own type. */
export function typeForNewKey(actor: Actor, asked: KeyType | undefined): KeyType {
  if (asked === undefined || asked === actor.environment) return actor.environment;
  throw unauthorized(
    `a ${actor.environment} key cannot create ${asked} keys`,
    `A key can only create keys of the same type. Send a ${asked} key, or create the first one in the dashboard or with 'upstow key create'.`,
  );
}

export async function revokeOwnKey(deps: Deps, actor: Actor, id: string): Promise<void> {
  await deps.db.transact(async (tx) => {
    const key = await tx.get(findKey, { id });
    if (key === null || key.project_id !== actor.projectId || key.revoked_at !== null)
      throw notFound("API key");
    if (actor.environment === "test" && key.type !== "test")
      throw unauthorized(
        "a test key cannot revoke live keys",
        "A test key can revoke only test keys. Send a live key.",
      );
    await revokeKey(tx, deps.now(), deps.author, id);
  });
}

export async function revokeKey(tx: Queryable, now: number, author: Author, id: string): Promise<void> {
  const revoked = await tx.get(revokeKeyRow, { id, now });
  if (revoked === null) throw notFound("API key");
  await tx.run(freeKeyPlace, { projectId: revoked.project_id });
  await writeLog(tx, now, {
    projectId: revoked.project_id,
    environment: revoked.type,
    type: "key.revoked",
    message: `API key "${revoked.name}" was revoked.`,
    data: { keyId: id, prefix: revoked.prefix },
  });
  await record(tx, now, author, {
    action: "key.revoked",
    target: { kind: "key", id, label: revoked.name },
    projectId: revoked.project_id,
    before: revoked,
  });
}

type OperatorDeps = Pick<Deps, "db" | "now" | "author">;

const nameMax = 100;

export async function createKeyFor(
  deps: OperatorDeps,
  wanted: { projectId: string; type: KeyType; name: string },
): Promise<{ key: ApiKeyRow; secret: string }> {
  if (wanted.name === "" || [...wanted.name].length > nameMax) {
    throw invalid("name", `must have 1 to ${nameMax} characters`);
  }
  return deps.db.transact(async (tx) => {
    const account = await tx.get(findAccountOfProject, { projectId: wanted.projectId });
    if (account === null) {
      throw new AppError("NOT_FOUND", `There is no project ${wanted.projectId}.`, {
        suggestion: "Check the id; a deleted project can't have new keys.",
      });
    }
    return createKey(tx, deps.now(), { ...wanted, tier: account.tier, author: deps.author });
  });
}

export async function revokeAnyKey(deps: OperatorDeps, id: string): Promise<ApiKeyRow> {
  // The argument may be a secret, which must not appear on a screen or in a log.
  if (!isId(id)) {
    throw new AppError("VALIDATION_ERROR", "This is not a key's id.", {
      suggestion: "Use the id shown by the dashboard and `upstow key create`, not the secret.",
    });
  }
  return deps.db.transact(async (tx) => {
    const key = await tx.get(findKey, { id });
    if (key === null) {
      throw new AppError("NOT_FOUND", `There is no key ${id}.`, {
        suggestion:
          "Check the id, and that UPSTOW_DATA_DIR or UPSTOW_DATABASE_URL is set to the right installation.",
      });
    }
    if (key.revoked_at !== null) {
      throw new AppError("NOT_FOUND", `Key ${id} is already revoked.`, {
        suggestion: "There is nothing left to do.",
      });
    }
    await revokeKey(tx, deps.now(), deps.author, id);
    return key;
  });
}
