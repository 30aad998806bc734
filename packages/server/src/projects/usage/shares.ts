import type { Environment } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import type { UsagePeriodRow, UsageTotalRow } from "../../db/account-schema.ts";
import type { Queryable } from "../../db/database.ts";
import { type DialectName, statement } from "../../db/statement.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

/** Changes to a month's counters; stored and reserved bytes add up over all months. */
export interface UsageChange extends Scope {
  period: string;
  storedBytes: number;
  reservedBytes: number;
  uploads: number;
  reservedUploads: number;
}

/** At most this many for each month; a new one is made only where all others are taken at that moment. */
const mostShares = 32;

const added = (p: UsageChange) => ({
  stored_bytes: sql<number>`usage_share.stored_bytes + cast(${p.storedBytes} as bigint)`,
  reserved_bytes: sql<number>`usage_share.reserved_bytes + cast(${p.reservedBytes} as bigint)`,
  uploads: sql<number>`usage_share.uploads + cast(${p.uploads} as bigint)`,
  reserved_uploads: sql<number>`usage_share.reserved_uploads + cast(${p.reservedUploads} as bigint)`,
});

type Month = Pick<UsageChange, "projectId" | "environment" | "period">;

/** Never waits, neither for another upload nor for a stalled instance. */
const freeShare = (p: Month) =>
  sql<number>`(select share from usage_share as free
    where project_id = ${p.projectId} and environment = ${p.environment} and period = ${p.period}
    order by share limit 1 for no key update skip locked)`;

/** By chance, so that two uploads at a time rarely make the same. */
const missingShare = (p: Month) =>
  sql<number>`(select missing from generate_series(0, ${sql.lit(mostShares - 1)}) as missing
    where missing not in (select share from usage_share
      where project_id = ${p.projectId} and environment = ${p.environment} and period = ${p.period})
    order by random() limit 1)`;

/** All others are taken: the upload waits for one of them. */
const anyShare = sql<number>`cast(floor(random() * ${sql.lit(mostShares)}) as bigint)`;

/** One statement, so that it can go with the commit. */
const addToShare = statement((q, p: UsageChange) =>
  q
    .insertInto("usage_share")
    .values({
      project_id: p.projectId,
      environment: p.environment,
      period: p.period,
      share: sql<number>`coalesce(${freeShare(p)}, ${missingShare(p)}, ${anyShare})`,
      stored_bytes: p.storedBytes,
      reserved_bytes: p.reservedBytes,
      uploads: p.uploads,
      reserved_uploads: p.reservedUploads,
    })
    .onConflict((conflict) =>
      conflict.columns(["project_id", "environment", "period", "share"]).doUpdateSet(added(p)),
    ),
);

/** On PostgreSQL only. */
export async function addUsage(tx: Queryable, change: UsageChange): Promise<void> {
  await tx.run(addToShare, change);
}

/** Every row that counts bytes: a project's total is their sum. */
export function totalRows(dialect: DialectName): RawBuilder<UsageTotalRow> {
  return dialect === "sqlite"
    ? sql`usage_total`
    : sql`(select project_id, environment, stored_bytes, reserved_bytes from usage_total
        union all select project_id, environment, stored_bytes, reserved_bytes from usage_share)`;
}

/** Every row that counts for a month: its counters are their sums. Storage is noted in at most one of them. */
export function periodRows(dialect: DialectName): RawBuilder<UsagePeriodRow> {
  return dialect === "sqlite"
    ? sql`usage_period`
    : sql`(select project_id, environment, period, uploads, reserved_uploads, bandwidth_bytes, transform_units,
          stored_bytes from usage_period
        union all select project_id, environment, period, uploads, reserved_uploads, 0, 0, null from usage_share)`;
}

/** For a query over `periodRows` that is grouped by month: what was stored after the last change until its end. */
export function storedAtEnd(dialect: DialectName): RawBuilder<number> {
  const noted = sql<number>`max(month.stored_bytes)`;
  if (dialect === "sqlite") return noted;
  return sql<number>`cast(least(coalesce(
    (select max(total.stored_bytes) + sum(share.stored_bytes)
      from usage_share as share join usage_total as total
        on total.project_id = share.project_id and total.environment = share.environment
      where share.project_id = month.project_id and share.environment = month.environment
        and share.period <= month.period),
    ${noted}, 0), ${sql.lit(Number.MAX_SAFE_INTEGER)}) as bigint)`;
}
