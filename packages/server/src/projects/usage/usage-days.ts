import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { deleteDaysBefore, listDays, noteDay } from "./day-queries.ts";
import { dayOf, dayShares, daysUpTo, type UsageDay } from "./day-shares.ts";
import { periodOf } from "./period.ts";
import { getUsageHistory } from "./usage.ts";

const dayMs = 24 * 60 * 60 * 1000;
const keptDays = 100;
/** An upload counts to the month that reserved it, and may wait a week for its completion. */
const lateDays = 8;

/** Run every few minutes; what was counted since the last run of a day goes to the next one. */
export async function noteUsageDays(deps: Pick<Deps, "db" | "now">): Promise<void> {
  const now = deps.now();
  const monthStart = Date.parse(`${periodOf(now)}-01`);
  // What a month counts in its last minutes, and afterwards, belongs to its last day.
  if (now - monthStart < lateDays * dayMs) {
    const lastDay = monthStart - dayMs;
    await deps.db.run(noteDay, { period: periodOf(lastDay), day: dayOf(lastDay) });
  }
  await deps.db.run(noteDay, { period: periodOf(now), day: dayOf(now) });
  await deps.db.run(deleteDaysBefore, { day: dayOf(now - keptDays * dayMs) });
}

/** One record a day, oldest first; today as it stands. */
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
