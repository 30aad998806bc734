/** With a limit, browsers take four digits for a year and no more. */
export const lastDay = "9999-12-31";
export const lastMoment = `${lastDay}T23:59`;

/** As the server takes it; empty for what is no moment, such as a year of five digits that was typed in. */
export function toMoment(time: Date): string {
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999 ? "" : time.toISOString();
}
