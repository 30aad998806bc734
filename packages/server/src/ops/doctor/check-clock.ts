import type { Database } from "../../db/database.ts";
import { databaseNow } from "../../db/expressions.ts";
import { statement } from "../../db/statement.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("clock");

const readClock = statement((q, _: object, dialect) => q.selectNoFrom(databaseNow(dialect).as("now")));
const findNewestLog = statement((q, _: object) =>
  q.selectFrom("log").select("created_at").orderBy("id", "desc").limit(1),
);

const noticeableMs = 2_000;
const harmfulMs = 60_000;
/** This program did not exist before then. */
const earliest = Date.UTC(2025, 0, 1);
const fix = "Let the machine keep its time by NTP (timedatectl set-ntp true).";

export async function checkClock(db: Database, now: number): Promise<Check[]> {
  const shown = new Date(now).toISOString();
  if (now < earliest) return [failed(`This machine believes it is ${shown}.`, fix)];
  const newest = await db.get(findNewestLog, {});
  if (newest !== null && newest.created_at > now + harmfulMs) {
    const later = new Date(newest.created_at).toISOString();
    return [failed(`It is ${shown} here, but something was recorded at ${later}.`, fix)];
  }
  const startedAt = performance.now();
  const database = await db.get(readClock, {});
  const tookMs = performance.now() - startedAt;
  const skewMs = (database?.now ?? now) - (now + tookMs);
  // Half the round trip cannot be distinguished from clock skew.
  const certainMs = Math.max(0, Math.abs(skewMs) - tookMs);
  const message = `The database's clock and this machine's are ${(Math.abs(skewMs) / 1000).toFixed(1)} s apart.`;
  if (certainMs > harmfulMs) return [failed(message, fix)];
  return [certainMs > noticeableMs ? warning(message, fix) : ok(`${shown}, as the database has it`)];
}
