let knownDay = Number.NaN;
let known = "";

/** The calendar month in UTC that a moment belongs to, as YYYY-MM. */
export function periodOf(timeMs: number): string {
  const day = Math.floor(timeMs / 86_400_000);
  if (day !== knownDay) {
    known = new Date(timeMs).toISOString().slice(0, 7);
    knownDay = day;
  }
  return known;
}

/** The given period and the ones before it, newest first. */
export function periodsBack(period: string, count: number): string[] {
  const [year = 0, month = 1] = period.split("-").map(Number);
  return Array.from({ length: count }, (_, i) => periodOf(Date.UTC(year, month - 1 - i, 1)));
}
