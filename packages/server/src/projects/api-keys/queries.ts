import { type KeyType, LIST_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import type { ApiKeyRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { actorColumns } from "../accounts/queries.ts";

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
      "api_key.name as name",
      "api_key.type as environment",
      "project.id as projectId",
      ...actorColumns,
    ]),
);

export const listActiveKeys = statement((q, p: { projectId: string; type: KeyType }) =>
  q
    .selectFrom("api_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("type", "=", p.type)
    .where("revoked_at", "is", null)
    .orderBy("id", "desc")
    .limit(LIST_MAX),
);

export const findKey = statement((q, p: { id: string }) =>
  q.selectFrom("api_key").selectAll().where("id", "=", p.id),
);

export const insertKey = statement((q, p: ApiKeyRow) =>
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
  }),
);

/** No row for a deleted project. Other key creations in this project wait until the transaction ends. */
export const takeKeyPlace = statement((q, p: { projectId: string }) =>
  q
    .updateTable("project")
    .set({ key_count: sql`key_count + 1` })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null)
    .returning("id"),
);

/** Exact after `takeKeyPlace`, which keeps others from adding any. */
// bounded: the plan limits them
export const countActiveKeys = statement((q, p: { projectId: string; type: KeyType }) =>
  q
    .selectFrom("api_key")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("project_id", "=", p.projectId)
    .where("type", "=", p.type)
    .where("revoked_at", "is", null),
);

interface KeyCreation {
  accountId: string;
  limit: number;
  now: number;
  windowMs: number;
}

/** No row if the account has created `limit` keys in the window. The condition is the lock. */
export const countKeyCreation = statement((q, p: KeyCreation) => {
  // Also in the future, in case a clock was set back.
  const hasEnded = sql<boolean>`abs(cast(${p.now} as bigint) - keys_made_since) >= cast(${p.windowMs} as bigint)`;
  return q
    .updateTable("account")
    .set({
      keys_made: sql`case when ${hasEnded} then 1 else keys_made + 1 end`,
      keys_made_since: sql`case when ${hasEnded} then cast(${p.now} as bigint) else keys_made_since end`,
    })
    .where("id", "=", p.accountId)
    .where(sql<boolean>`(${hasEnded} or keys_made < cast(${p.limit} as bigint))`)
    .returning("id");
});

export const findKeyCreations = statement((q, p: { accountId: string }) =>
  q.selectFrom("account").select("keys_made_since").where("id", "=", p.accountId),
);

export const freeKeyPlace = statement((q, p: { projectId: string }) =>
  q.updateTable("project").set({ key_count: sql`key_count - 1` }).where("id", "=", p.projectId),
);

export const revokeKeyRow = statement((q, p: { id: string; now: number }) =>
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
