import { type KeyType, TIERS, type TierName } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { ApiKeyTable, KeyReach } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, unauthorized } from "../../errors.ts";
import { createId } from "../../ids.ts";
import { createApiKeySecret } from "../../security/api-key-secret.ts";
import { writeLog } from "../logs/write-log.ts";
import type { Actor } from "./actor.ts";
import { findKey, freeKeyPlace, insertKey, revokeKey as revokeKeyRow, takeKeyPlace } from "./queries.ts";

export interface NewKey {
  projectId: string;
  tier: TierName;
  type: KeyType;
  name: string;
  reach: KeyReach;
}

export async function createKey(
  tx: Queryable,
  now: number,
  wanted: NewKey,
): Promise<{ key: ApiKeyTable; secret: string }> {
  const limit = TIERS[wanted.tier].keysPerProject;
  const place = await tx.get(takeKeyPlace, {
    projectId: wanted.projectId,
    limit: limit ?? Number.MAX_SAFE_INTEGER,
  });
  if (place === null) {
    throw new AppError("TIER_LIMIT_EXCEEDED", `The ${wanted.tier} tier allows ${limit} keys a project.`, {
      suggestion: "Revoke a key you no longer use, or move to a larger tier.",
    });
  }
  const { secret, hash, prefix } = createApiKeySecret(wanted.type);
  const key: ApiKeyTable = {
    id: createId(now),
    project_id: wanted.projectId,
    name: wanted.name,
    type: wanted.type,
    hash,
    prefix,
    last_used_at: null,
    created_at: now,
    revoked_at: null,
    reach: wanted.reach,
  };
  await tx.run(insertKey, key);
  await writeLog(tx, now, {
    projectId: wanted.projectId,
    environment: wanted.type,
    type: "key.created",
    message: `API key "${wanted.name}" was created.`,
    data: { keyId: key.id, prefix },
  });
  return { key, secret };
}

/** A key makes keys of its own type only. */
export function typeForNewKey(actor: Actor, asked: KeyType | undefined): KeyType {
  if (asked === undefined || asked === actor.environment) return actor.environment;
  throw unauthorized(
    `A key makes keys of its own type only. Send a ${asked} key, or make the first one in the dashboard or by 'upstow key create'.`,
  );
}

export async function revokeOwnKey(deps: Deps, actor: Actor, id: string): Promise<void> {
  await deps.db.transact(async (tx) => {
    const key = await tx.get(findKey, { id });
    if (key === null || key.project_id !== actor.projectId || key.revoked_at !== null)
      throw notFound("API key");
    if (actor.environment === "test" && key.type !== "test")
      throw unauthorized("A test key revokes only test keys. Send a live key.");
    await revokeKey(tx, deps.now(), id);
  });
}

export async function revokeKey(tx: Queryable, now: number, id: string): Promise<void> {
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
}
