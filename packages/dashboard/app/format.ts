const units = ["B", "KB", "MB", "GB", "TB"];

/** Powers of 1024, as the limits of the tiers are. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

const numbers = new Intl.NumberFormat();
export function formatCount(count: number): string {
  return numbers.format(count);
}

/** Such as "1 file" and "2 files". */
export function formatMany(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
export function formatTime(iso: string): string {
  return times.format(new Date(iso));
}

const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
/** A calendar day in UTC, as usage is counted. */
export function formatDay(day: string): string {
  return days.format(new Date(day));
}

const months = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" });
/** A calendar month such as "2026-11". */
export function formatMonth(month: string): string {
  return months.format(new Date(month));
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

function formatRelative(iso: string, underAMinute: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return formatTime(iso);
  const step = steps.find(([, size]) => Math.abs(seconds) >= size);
  return step === undefined ? underAMinute : relative.format(Math.round(seconds / step[1]), step[0]);
}

/** For what has happened. */
export const formatAgo = (iso: string): string => formatRelative(iso, "just now");

/** For what is to come. */
export const formatIn = (iso: string): string => formatRelative(iso, "in less than a minute");

/** Such as "in 3 days (Nov 22, 2026, 3:04 PM)". */
export function formatDeadline(iso: string): string {
  const text = formatIn(iso);
  const time = formatTime(iso);
  return text === time ? time : `${text} (${time})`;
}
