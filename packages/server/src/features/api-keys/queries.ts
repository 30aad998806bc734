import { sql } from "#kysely";
import type { ApiKeyTable } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

export const findActorByKeyHash = statement((q, p: { hash: string }) =>
  q
    .selectFrom("api_key")
    .innerJoin("project", "project.id", "api_key.project_id")
    .innerJoin("account", "account.id", "project.account_id")
    .where("api_key.hash", "=", p.hash)
    .where("api_key.revoked_at", "is", null)
    .where("project.deleted_at", "is", null)
    .select([
      "api_key.id as keyId",
      "api_key.type as environment",
      "api_key.reach as reach",
      "project.id as projectId",
      "project.store_id as storeName",
      "project.cdn_url as cdnUrl",
      "account.id as accountId",
      "account.tier as tier",
      "account.rate_upload as rateUpload",
      "account.rate_transform as rateTransform",
      "account.rate_other as rateOther",
      "account.transform_units as transformUnits",
    ]),
);

export const listActiveKeys = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("api_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("revoked_at", "is", null)
    .orderBy("id", "desc"),
);

export const findKey = statement((q, p: { id: string }) =>
  q.selectFrom("api_key").selectAll().where("id", "=", p.id),
);

export const insertKey = statement((q, p: ApiKeyTable) =>
  q.insertInto("api_key").values({
    id: p.id,
    project_id: p.project_id,
    name: p.name,
    type: p.type,
    hash: p.hash,
    prefix: p.prefix,
    last_used_at: null,
    created_at: p.created_at,
    revoked_at: null,
    reach: p.reach,
  }),
);

/** Takes one of the project's key places; no row when all are taken. The condition is the lock. */
export const takeKeyPlace = statement((q, p: { projectId: string; limit: number }) =>
  q
    .updateTable("project")
    .set({ key_count: sql`key_count + 1` })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null)
    .where("key_count", "<", p.limit)
    .returning("id"),
);

export const freeKeyPlace = statement((q, p: { projectId: string }) =>
  q.updateTable("project").set({ key_count: sql`key_count - 1` }).where("id", "=", p.projectId),
);

export const revokeKey = statement((q, p: { id: string; now: number }) =>
  q
    .updateTable("api_key")
    .set({ revoked_at: p.now })
    .where("id", "=", p.id)
    .where("revoked_at", "is", null)
    .returning(["project_id", "type", "prefix", "name"]),
);

export const revokeKeysOfProject = statement((q, p: { projectId: string; now: number }) =>
  q
    .updateTable("api_key")
    .set({ revoked_at: p.now })
    .where("project_id", "=", p.projectId)
    .where("revoked_at", "is", null),
);

export const setLastUsed = statement((q, p: { id: string; at: number }) =>
  q
    .updateTable("api_key")
    .set({ last_used_at: p.at })
    .where("id", "=", p.id)
    .where((where) => where.or([where("last_used_at", "is", null), where("last_used_at", "<", p.at)])),
);
