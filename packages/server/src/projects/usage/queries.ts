import type { Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { Schema } from "../../db/schema.ts";
import { type DialectName, statement, sumBytes } from "../../db/statement.ts";
import { periodRows, storedAtEnd, totalRows } from "./shares.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

export const findUsageTotal = statement((q, p: Scope, dialect) =>
  q
    .selectFrom(totalRows(dialect).as("total"))
    .select([
      sumBytes(dialect, "stored_bytes").as("stored_bytes"),
      sumBytes(dialect, "reserved_bytes").as("reserved_bytes"),
    ])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

export const findUsagePeriod = statement((q, p: Scope & { period: string }, dialect) =>
  q
    .selectFrom(periodRows(dialect).as("month"))
    .select([
      sumBytes(dialect, "uploads").as("uploads"),
      sumBytes(dialect, "reserved_uploads").as("reserved_uploads"),
    ])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period),
);

/** The newest records up to a period, enough to carry forward a month without changes. */
// bounded: one row per month
export const listUsagePeriods = statement((q, p: Scope & { until: string }, dialect) =>
  q
    .selectFrom(periodRows(dialect).as("month"))
    .select([
      "period",
      sumBytes(dialect, "uploads").as("uploads"),
      sumBytes(dialect, "bandwidth_bytes").as("bandwidth_bytes"),
      sumBytes(dialect, "transform_units").as("transform_units"),
      storedAtEnd(dialect).as("stored_bytes"),
    ])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "<=", p.until)
    .groupBy(["project_id", "environment", "period"])
    .orderBy("period", "desc"),
);

/**
 * Serialises reservations for an account that has a limit. The embedded engine has one writer anyway.
 */
export const lockAccount = statement((q, p: { accountId: string }, dialect) =>
  q
    .selectFrom("account")
    .select("id")
    .where("id", "=", p.accountId)
    .$if(dialect === "postgres", (select) => select.forNoKeyUpdate()),
);

interface AccountScope {
  accountId: string;
  projectId: string;
  environment: Environment;
  period: string;
}

/** The total usage of the account's projects, including deleted ones, and whether the given one still exists. */
export const sumAccountUse = statement((q, p: AccountScope, dialect) => {
  const total = (column: "stored_bytes" | "reserved_bytes") =>
    sql<number>`(select sum(${sql.ref(column)}) from ${totalRows(dialect)} as total
      where total.project_id = project.id and total.environment = ${p.environment})`;
  const ofMonth = (column: "uploads" | "reserved_uploads" | "transform_units") =>
    sql<number>`(select sum(${sql.ref(column)}) from ${periodRows(dialect)} as month
      where month.project_id = project.id and month.environment = ${p.environment} and month.period = ${p.period})`;
  const all = (ofProject: RawBuilder<number>) => sql<number>`cast(coalesce(sum(${ofProject}), 0) as bigint)`;
  return q
    .selectFrom("project")
    .where("project.account_id", "=", p.accountId)
    .where(sql<boolean>`project.is_counted = 1`)
    .select([
      all(total("stored_bytes")).as("storedBytes"),
      all(total("reserved_bytes")).as("reservedBytes"),
      all(ofMonth("uploads")).as("uploads"),
      all(ofMonth("reserved_uploads")).as("reservedUploads"),
      all(ofMonth("transform_units")).as("transformUnits"),
      sql<number>`cast(count(case when project.id = ${p.projectId} and project.deleted_at is null then 1 end) as bigint)`.as(
        "isOpen",
      ),
    ]);
});

/**
 * Serialises reservations for a project that has a limit. Other reservations, and calls that end uploads, continue
 * meanwhile: they are never rejected, or only free space.
 */
export const lockTotal = statement((q, p: Scope) =>
  q
    .selectFrom("usage_total")
    .select("project_id")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .forNoKeyUpdate(),
);

/** The counters of both environments of a new project. */
export const insertUsageTotals = statement((q, p: { projectId: string }) =>
  q.insertInto("usage_total").values(
    (["live", "test"] as const).map((environment) => ({
      project_id: p.projectId,
      environment,
      stored_bytes: 0,
      reserved_bytes: 0,
    })),
  ),
);

/** Changes no row if it would exceed `limit`. */
export const reserveBytes = statement((q, p: Scope & { bytes: number; limit: number }) =>
  q
    .updateTable("usage_total")
    .set({ reserved_bytes: sql`reserved_bytes + cast(${p.bytes} as bigint)` })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(
      sql<boolean>`stored_bytes + reserved_bytes + cast(${p.bytes} as bigint) <= cast(${p.limit} as bigint)`,
    ),
);

/** Turns reserved bytes into stored ones, releases them, or subtracts stored ones. */
export const moveBytes = statement((q, p: Scope & { stored: number; reserved: number }) =>
  q
    .updateTable("usage_total")
    .set({
      stored_bytes: sql`stored_bytes + cast(${p.stored} as bigint)`,
      reserved_bytes: sql`reserved_bytes + cast(${p.reserved} as bigint)`,
    })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

/** The storage total as this transaction sees it. */
const storedTotal = (p: Scope, dialect: DialectName) =>
  sql<number>`coalesce((select ${dialect === "sqlite" ? sql`stored_bytes` : sumBytes(dialect, "stored_bytes")}
    from ${totalRows(dialect)} as total
    where project_id = ${p.projectId} and environment = ${p.environment}), 0)`;

interface ReserveUploads extends Scope {
  period: string;
  count: number;
  limit: number;
  openLimit: number;
}

/** Changes no row if the month would exceed `limit` uploads, including open ones, or has no row yet. */
export const reserveMoreUploads = statement((q, p: ReserveUploads) =>
  q
    .updateTable("usage_period")
    .set({ reserved_uploads: sql`reserved_uploads + cast(${p.count} as bigint)` })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period)
    .where(
      sql<boolean>`uploads + reserved_uploads + cast(${p.count} as bigint) <= cast(${p.limit} as bigint)`,
    )
    .where(sql<boolean>`reserved_uploads + cast(${p.count} as bigint) <= cast(${p.openLimit} as bigint)`),
);

/** The same if the month may have no row yet. The caller has checked that `count` alone fits. */
export const reserveFirstUploads = statement((q, p: ReserveUploads, dialect) =>
  q
    .insertInto("usage_period")
    .values({
      project_id: p.projectId,
      environment: p.environment,
      period: p.period,
      uploads: 0,
      reserved_uploads: p.count,
      bandwidth_bytes: 0,
      transform_units: 0,
      stored_bytes: storedTotal(p, dialect),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["project_id", "environment", "period"])
        .doUpdateSet({ reserved_uploads: sql`usage_period.reserved_uploads + excluded.reserved_uploads` })
        .where(
          sql<boolean>`usage_period.uploads + usage_period.reserved_uploads + excluded.reserved_uploads <= cast(${p.limit} as bigint)
            and usage_period.reserved_uploads + excluded.reserved_uploads <= cast(${p.openLimit} as bigint)`,
        ),
    ),
);

export const releaseUploads = statement((q, p: Scope & { period: string; count: number }) =>
  q
    .updateTable("usage_period")
    .set({ reserved_uploads: sql`reserved_uploads - cast(${p.count} as bigint)` })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period),
);

interface Settle extends Scope {
  period: string;
  count: number;
}

const takeReservedPlaces = (p: Settle) => ({
  uploads: sql<number>`uploads + cast(${p.count} as bigint)`,
  reserved_uploads: sql<number>`reserved_uploads - cast(${p.count} as bigint)`,
});

/** Uploads use the slots they reserved, in the month they reserved them, so no month exceeds its quota. */
export const settleInEarlierMonth = statement((q, p: Settle) =>
  q
    .updateTable("usage_period")
    .set(takeReservedPlaces(p))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period),
);

/** The same, and records the storage total: an earlier month keeps its final total. */
export const settleInThisMonth = statement((q, p: Settle, dialect) =>
  q
    .updateTable("usage_period")
    .set({ ...takeReservedPlaces(p), stored_bytes: storedTotal(p, dialect) })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period),
);

interface PeriodNote extends Scope {
  period: string;
  bandwidthBytes: number;
}

const insertPeriod = (q: QueryCreator<Schema>, p: PeriodNote, dialect: DialectName) =>
  q.insertInto("usage_period").values({
    project_id: p.projectId,
    environment: p.environment,
    period: p.period,
    uploads: 0,
    reserved_uploads: 0,
    bandwidth_bytes: p.bandwidthBytes,
    transform_units: 0,
    stored_bytes: storedTotal(p, dialect),
  });

/** Records the current storage total. The caller has locked its row, so the last record is correct. */
export const noteStorage = statement((q, p: PeriodNote, dialect) =>
  insertPeriod(q, p, dialect).onConflict((conflict) =>
    conflict
      .columns(["project_id", "environment", "period"])
      .doUpdateSet({ stored_bytes: sql`excluded.stored_bytes` }),
  ),
);

/** The storage total is only set for a new month, because by now an older one may have changed. */
export const countBandwidth = statement((q, p: PeriodNote, dialect) =>
  insertPeriod(q, p, dialect).onConflict((conflict) =>
    conflict
      .columns(["project_id", "environment", "period"])
      .doUpdateSet({ bandwidth_bytes: sql`usage_period.bandwidth_bytes + excluded.bandwidth_bytes` }),
  ),
);
