import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { periodOf } from "./period.ts";
import { moveBytes, noteStorage, releaseUploads } from "./queries.ts";

export interface CounterScope {
  projectId: string;
  environment: Environment;
}

/** How much more the counters say than the files do; negative if they say less. */
export interface CounterDrift {
  storedBytes: number;
  reservedBytes: number;
  /** Of open uploads, by month. */
  reservedUploads: { period: string; count: number }[];
}

/** A customer's bucket counts toward no quota; see `countedBytes`. */
const countedBytes = (status: "UPLOADED" | "UPLOADING") =>
  sql<number>`coalesce(sum(case when status = ${sql.lit(status)} and substr(store, 1, 3) <> 'cs_' then size_bytes end), 0)`;

/**
 * One statement sees counters and files of one moment. Uploads and deletions change both by the same amount in one
 * transaction, so the difference stays the same however many are under way.
 */
const measureBytes = statement((q, p: CounterScope) =>
  q
    .selectFrom("usage_total as total")
    .innerJoin(
      (from) =>
        from
          .selectFrom("file")
          .select([countedBytes("UPLOADED").as("stored"), countedBytes("UPLOADING").as("reserved")])
          .where("project_id", "=", p.projectId)
          .where("environment", "=", p.environment)
          .where(sql<boolean>`status <> 'DELETED'`)
          .as("counted"),
      (join) => join.onTrue(),
    )
    .select([
      sql<number>`cast(total.stored_bytes - counted.stored as bigint)`.as("storedBytes"),
      sql<number>`cast(total.reserved_bytes - counted.reserved as bigint)`.as("reservedBytes"),
    ])
    .where("total.project_id", "=", p.projectId)
    .where("total.environment", "=", p.environment),
);

// bounded: one row per month
const measureUploads = statement((q, p: CounterScope) =>
  q
    .selectFrom("usage_period as month")
    .leftJoin(
      (from) =>
        from
          .selectFrom("file")
          .select(["reserved_period", sql<number>`count(*)`.as("count")])
          .where(sql<boolean>`status = 'UPLOADING'`)
          .where("project_id", "=", p.projectId)
          .where("environment", "=", p.environment)
          .groupBy("reserved_period")
          .as("open"),
      (join) => join.onRef("open.reserved_period", "=", "month.period"),
    )
    .select([
      "month.period",
      sql<number>`cast(month.reserved_uploads - coalesce(open.count, 0) as bigint)`.as("count"),
    ])
    .where("month.project_id", "=", p.projectId)
    .where("month.environment", "=", p.environment)
    .where(sql<boolean>`month.reserved_uploads <> coalesce(open.count, 0)`),
);

const countUpTo = statement((q, p: CounterScope & { limit: number }) =>
  q
    .selectFrom((from) =>
      from
        .selectFrom("file")
        .select("id")
        .where("project_id", "=", p.projectId)
        .where("environment", "=", p.environment)
        .where(sql<boolean>`status <> 'DELETED'`)
        .limit(p.limit)
        .as("some"),
    )
    .select(sql<number>`count(*)`.as("count")),
);

/** Whether a recount reads fewer files than this. */
export async function hasFewerFiles(db: Queryable, scope: CounterScope, limit: number): Promise<boolean> {
  return ((await db.get(countUpTo, { ...scope, limit }))?.count ?? 0) < limit;
}

/** Null if the counters are right. */
export async function measureDrift(db: Queryable, scope: CounterScope): Promise<CounterDrift | null> {
  const bytes = await db.get(measureBytes, scope);
  const reservedUploads = await db.all(measureUploads, scope);
  const drift = { storedBytes: 0, reservedBytes: 0, ...bytes, reservedUploads };
  return drift.storedBytes === 0 && drift.reservedBytes === 0 && reservedUploads.length === 0 ? null : drift;
}

/** Subtracts the difference instead of setting a value, so nothing that is counted meanwhile is lost. */
export async function removeDrift(
  db: Database,
  now: number,
  scope: CounterScope,
  { storedBytes, reservedBytes, reservedUploads }: CounterDrift,
): Promise<void> {
  await db.transact(async (tx) => {
    await tx.run(moveBytes, { ...scope, stored: -storedBytes, reserved: -reservedBytes });
    for (const { period, count } of reservedUploads)
      await tx.run(releaseUploads, { ...scope, period, count });
    await tx.run(noteStorage, { ...scope, period: periodOf(now), bandwidthBytes: 0 });
  });
}
