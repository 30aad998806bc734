import type { Queryable } from "../db/database.ts";
import { statement } from "../db/statement.ts";

const putReport = statement((q, p: { name: string; startedAt: number; endedAt: number; report: string }) =>
  q
    .insertInto("maintenance_report")
    .values({ name: p.name, started_at: p.startedAt, ended_at: p.endedAt, report: p.report })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet({ started_at: p.startedAt, ended_at: p.endedAt, report: p.report }),
    ),
);
export const findReport = statement((q, p: { name: string }) =>
  q.selectFrom("maintenance_report").selectAll().where("name", "=", p.name),
);
// bounded: one row per kind of maintenance
const listReports = statement((q, _: object) =>
  q.selectFrom("maintenance_report").selectAll().orderBy("name"),
);

/** `verify` is the walk of the running service, `verify-command` that of the operator's command. */
export type MaintenanceName = "scrub" | "sweep" | "verify" | "verify-command";

export interface MaintenanceReport<Report = Record<string, unknown>> {
  name: string;
  startedAt: number;
  endedAt: number;
  report: Report;
}

/** The last run's findings, for the owner; one row per kind, whichever instance ran it. */
export async function keepReport(
  db: Queryable,
  name: MaintenanceName,
  times: { startedAt: number; endedAt: number },
  report: object,
): Promise<void> {
  await db.run(putReport, { name, ...times, report: JSON.stringify(report) });
}

export async function getReports(db: Queryable): Promise<MaintenanceReport[]> {
  return (await db.all(listReports, {})).map((row) => ({
    name: row.name,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    report: JSON.parse(row.report),
  }));
}

/** One pass over all stored bytes, which takes many calls. */
export interface ScrubPass {
  checkedBlobs: number;
  checkedBytes: number;
  damaged: number;
  mended: number;
  hasEnded: boolean;
}

/** Adds a call to its pass; the call after the last one starts a new pass. */
export async function keepScrub(
  db: Queryable,
  times: { startedAt: number; endedAt: number },
  part: ScrubPass,
): Promise<void> {
  const row = await db.get(findReport, { name: "scrub" satisfies MaintenanceName });
  const before = row === null ? null : (JSON.parse(row.report) as ScrubPass);
  if (row === null || before === null || before.hasEnded) return keepReport(db, "scrub", times, part);
  const sum = {
    checkedBlobs: before.checkedBlobs + part.checkedBlobs,
    checkedBytes: before.checkedBytes + part.checkedBytes,
    damaged: before.damaged + part.damaged,
    mended: before.mended + part.mended,
    hasEnded: part.hasEnded,
  };
  return keepReport(db, "scrub", { startedAt: row.started_at, endedAt: times.endedAt }, sum);
}
