import type { Database } from "./database.ts";
import { databaseNow, statement } from "./statement.ts";

export interface SharedClock {
  now(): number;
  /** Compares with the database's clock again. */
  adjust(): Promise<void>;
}

const readClock = statement((q, _: object, dialect) => q.selectNoFrom(databaseNow(dialect).as("now")));
/** Clocks synchronised by NTP differ by less, and are used as they are. */
const toleranceMs = 1_000;

/**
 * The machine's clock, corrected if it differs from the database's: an instance that is hours ahead would end
 * everyone's uploads, and one that is behind would sign URLs that have already expired.
 */
export async function openSharedClock(
  db: Database,
  machineNow: () => number = Date.now,
): Promise<SharedClock> {
  let offsetMs = 0;
  async function adjust(): Promise<void> {
    const askedAt = machineNow();
    const row = await db.get(readClock, {});
    const answeredAt = machineNow();
    if (row === null) return;
    const apartMs = row.now - (askedAt + answeredAt) / 2;
    // Half the round trip cannot be distinguished from clock skew.
    const uncertainMs = (answeredAt - askedAt) / 2 + toleranceMs;
    offsetMs = Math.abs(apartMs) <= uncertainMs ? 0 : Math.round(apartMs);
  }
  await adjust();
  return { now: () => machineNow() + offsetMs, adjust };
}
