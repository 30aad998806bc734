import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { statement, sumBytes } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { periodOf } from "./period.ts";
import { getUsageHistory } from "./routes.ts";
import { periodRows, storedAtEnd } from "./shares.ts";

export interface DayCounts {
  day: string;
  uploads: number;
  bandwidth_bytes: number;
  transform_units: number;
  stored_bytes: number;
}

/** One day's increments, and the storage at its end. */
interface UsageDay {
  day: string;
  uploads: number;
  bandwidthBytes: number;
  transformUnits: number;
  storageBytes: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The calendar day in UTC that a moment belongs to, as YYYY-MM-DD. */
function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** The days up to and including that of `now`, oldest first. */
export function daysUpTo(now: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => dayOf(now - (count - 1 - i) * dayMs));
}

/** Rows are cumulative per month, oldest first; each day gets the difference to the previous one. */
export function dayShares(days: string[], rows: DayCounts[]): UsageDay[] {
  return days.map((day) => {
    const upTo = rows.filter((row) => row.day <= day);
    const last = upTo.at(-1);
    const own = last?.day === day ? last : null;
    const base = upTo.findLast((row) => row.day < day && row.day.startsWith(day.slice(0, 7)));
    const share = (name: "uploads" | "bandwidth_bytes" | "transform_units") =>
      own === null ? 0 : Math.max(0, own[name] - (base?.[name] ?? 0));
    return {
      day,
      uploads: share("uploads"),
      bandwidthBytes: share("bandwidth_bytes"),
      transformUnits: share("transform_units"),
      storageBytes: last?.stored_bytes ?? 0,
    };
  });
}

const keptDays = 100;
/** An upload counts toward the month that reserved it, and may be completed up to a week later. */
const lateDays = 8;

/** Runs every few minutes; what was counted after a day's last run goes to the next day. */
export async function noteUsageDays(deps: Pick<Deps, "db" | "now">): Promise<void> {
  const now = deps.now();
  const monthStart = Date.parse(`${periodOf(now)}-01`);
  // A month's counts from its last minutes and later belong to its last day.
  if (now - monthStart < lateDays * dayMs) {
    const lastDay = monthStart - dayMs;
    await deps.db.run(noteDay, { period: periodOf(lastDay), day: dayOf(lastDay) });
  }
  await deps.db.run(noteDay, { period: periodOf(now), day: dayOf(now) });
  await deps.db.run(deleteDaysBefore, { day: dayOf(now - keptDays * dayMs) });
}

/** One record per day, oldest first, including today so far. */
export async function getUsageDays(deps: Deps, actor: Actor, count: number): Promise<UsageDay[]> {
  const now = deps.now();
  const { projectId, environment } = actor;
  const days = daysUpTo(now, count);
  const month = `${(days[0] ?? "").slice(0, 7)}-01`;
  const [current] = await getUsageHistory(deps, actor, 1);
  if (current === undefined) throw new Error("the current period has no record");
  const rows = await deps.db.all(listDays, { projectId, environment, from: month });
  const today = {
    day: dayOf(now),
    uploads: current.uploads,
    bandwidth_bytes: current.bandwidthBytes,
    transform_units: current.transformUnits,
    stored_bytes: current.storageBytes,
  };
  return dayShares(days, [...rows.filter((row) => row.day < today.day), today]);
}

/** Records a month's totals so far, for projects where they differ from the latest row. */
const noteDay = statement((q, p: { period: string; day: string }, dialect) =>
  q
    .insertInto("usage_day")
    .columns([
      "project_id",
      "environment",
      "day",
      "uploads",
      "bandwidth_bytes",
      "transform_units",
      "stored_bytes",
    ])
    .expression((from) =>
      from
        .selectFrom((months) =>
          months
            .selectFrom(periodRows(dialect).as("month"))
            .select([
              "project_id",
              "environment",
              sumBytes(dialect, "uploads").as("uploads"),
              sumBytes(dialect, "bandwidth_bytes").as("bandwidth_bytes"),
              sumBytes(dialect, "transform_units").as("transform_units"),
              storedAtEnd(dialect).as("stored_bytes"),
            ])
            .where("period", "=", p.period)
            .groupBy(["project_id", "environment", "period"])
            .as("now"),
        )
        .select([
          "now.project_id",
          "now.environment",
          sql<string>`cast(${p.day} as text)`.as("day"),
          "now.uploads",
          "now.bandwidth_bytes",
          "now.transform_units",
          "now.stored_bytes",
        ])
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom("usage_day as before")
                .select("before.day")
                .whereRef("before.project_id", "=", "now.project_id")
                .whereRef("before.environment", "=", "now.environment")
                .where("before.day", "=", (latest) =>
                  latest
                    .selectFrom("usage_day as noted")
                    .select((select) => select.fn.max<string>("noted.day").as("day"))
                    .whereRef("noted.project_id", "=", "now.project_id")
                    .whereRef("noted.environment", "=", "now.environment")
                    .where("noted.day", ">", p.period)
                    .where("noted.day", "<=", p.day),
                )
                .whereRef("before.uploads", "=", "now.uploads")
                .whereRef("before.bandwidth_bytes", "=", "now.bandwidth_bytes")
                .whereRef("before.transform_units", "=", "now.transform_units")
                .whereRef("before.stored_bytes", "=", "now.stored_bytes"),
            ),
          ),
        ),
    )
    .onConflict((conflict) =>
      conflict.columns(["project_id", "environment", "day"]).doUpdateSet({
        uploads: sql`excluded.uploads`,
        bandwidth_bytes: sql`excluded.bandwidth_bytes`,
        transform_units: sql`excluded.transform_units`,
        stored_bytes: sql`excluded.stored_bytes`,
      }),
    ),
);

// bounded: one row per day, kept for 100 days
const listDays = statement((q, p: { projectId: string; environment: Environment; from: string }) =>
  q
    .selectFrom("usage_day")
    .select(["day", "uploads", "bandwidth_bytes", "transform_units", "stored_bytes"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("day", ">=", p.from)
    .orderBy("day"),
);

const deleteDaysBefore = statement((q, p: { day: string }) =>
  q.deleteFrom("usage_day").where("day", "<", p.day),
);
