import { invalid } from "../errors.ts";

/** A leap second is a valid date-time that JavaScript cannot express: as NaN it would be no bound at all. */
export function parseMoment(field: string, text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) throw invalid(field, "is not a moment this service knows");
  return timeMs;
}
