import type { Environment } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { releaseUsage } from "./quota.ts";
import { periodRows, totalRows } from "./shares.ts";

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

/** A customer's bucket counts toward no quota; see `countedBytes`. What is in the trash counts as stored. */
const countedBytes = (state: RawBuilder<boolean>) =>
  sql<number>`coalesce(sum(case when ${state} and substr(store, 1, 3) <> 'cs_' then size_bytes end), 0)`;

/** Files that count for something. Two selections, to use the index of each. */
const heldFiles = (p: CounterScope) => {
  const ofScope = sql`from file where project_id = ${p.projectId} and environment = ${p.environment}`;
  return sql<Pick<FileRow, "id" | "status" | "store" | "size_bytes">>`(
    select id, status, store, size_bytes ${ofScope} and status <> 'DELETED'
    union all select id, status, store, size_bytes ${ofScope} and purge_at is not null)`;
};

/**
 * One statement sees counters and files of one moment. Uploads and deletions change both by the same amount in one
 * transaction, so the difference stays the same however many are under way.
 */
const measureBytes = statement((q, p: CounterScope, dialect) =>
  q
    .selectFrom((from) =>
      from
        .selectFrom(totalRows(dialect).as("total"))
        .select([
          sql<number>`sum(stored_bytes)`.as("stored_bytes"),
          sql<number>`sum(reserved_bytes)`.as("reserved_bytes"),
        ])
        .where("project_id", "=", p.projectId)
        .where("environment", "=", p.environment)
        .as("total"),
    )
    .innerJoin(
      (from) =>
        from
          .selectFrom(heldFiles(p).as("held"))
          .select([
            countedBytes(sql`status in ('UPLOADED', 'DELETED')`).as("stored"),
            countedBytes(sql`status = 'UPLOADING'`).as("reserved"),
          ])
          .as("counted"),
      (join) => join.onTrue(),
    )
    .select([
      sql<number>`cast(total.stored_bytes - counted.stored as bigint)`.as("storedBytes"),
      sql<number>`cast(total.reserved_bytes - counted.reserved as bigint)`.as("reservedBytes"),
    ]),
);

// bounded: one row per month
const measureUploads = statement((q, p: CounterScope, dialect) =>
  q
    .selectFrom((from) =>
      from
        .selectFrom(periodRows(dialect).as("month"))
        .select(["period", sql<number>`sum(reserved_uploads)`.as("reserved_uploads")])
        .where("project_id", "=", p.projectId)
        .where("environment", "=", p.environment)
        .groupBy("period")
        .as("month"),
    )
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
    .where(sql<boolean>`month.reserved_uploads <> coalesce(open.count, 0)`),
);

const countUpTo = statement((q, p: CounterScope & { limit: number }) =>
  q
    .selectFrom((from) => from.selectFrom(heldFiles(p).as("held")).select("id").limit(p.limit).as("some"))
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
  const uploadsByPeriod = new Map(reservedUploads.map(({ period, count }) => [period, count]));
  await db.transact((tx) => releaseUsage(tx, now, scope, { storedBytes, reservedBytes, uploadsByPeriod }));
}
