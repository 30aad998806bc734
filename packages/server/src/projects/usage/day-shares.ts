export interface DayCounts {
  day: string;
  uploads: number;
  bandwidth_bytes: number;
  transform_units: number;
  stored_bytes: number;
}

/** What one day added, and what was stored at its end. */
export interface UsageDay {
  day: string;
  uploads: number;
  bandwidthBytes: number;
  transformUnits: number;
  storageBytes: number;
}

const dayMs = 24 * 60 * 60 * 1000;

/** The calendar day in UTC that a moment belongs to, as YYYY-MM-DD. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** The days up to and including the one of `now`, oldest first. */
export function daysUpTo(now: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => dayOf(now - (count - 1 - i) * dayMs));
}

/** Rows count from the first of their month, oldest first; each day gets what it has more than the one before it. */
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
