const dayMs = 86_400_000;
let shownDay = Number.NaN;
let dayText = "";
const two = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));

/** Like Date's toISOString, without computing the date for each of many times on the same day. */
export function isoTime(timeMs: number): string {
  const day = Math.floor(timeMs / dayMs);
  if (day !== shownDay) {
    dayText = new Date(timeMs).toISOString().slice(0, 11);
    shownDay = day;
  }
  const ms = timeMs - day * dayMs;
  const hour = two[Math.floor(ms / 3_600_000)];
  const minute = two[Math.floor(ms / 60_000) % 60];
  const second = two[Math.floor(ms / 1000) % 60];
  return `${dayText}${hour}:${minute}:${second}.${String(ms % 1000).padStart(3, "0")}Z`;
}
