/** As the server takes it; empty for what is no moment, such as a year of five digits that was typed in. */
export function toMoment(time: Date): string {
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999 ? "" : time.toISOString();
}
