import { invalid } from "../kernel/errors.ts";
import { firstIdAt } from "../kernel/ids.ts";

/** A leap second is a valid date-time that JavaScript cannot express: as NaN it would be no bound at all. */
export function parseMoment(field: string, text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) throw invalid(field, "is not a moment this service knows");
  return timeMs;
}

/** Ids begin with the time at which they were made: from `since` on, before `until`. */
export function boundsOf(
  query: { since?: string; until?: string },
  before: string,
): { from: string; before: string } {
  const until = query.until === undefined ? before : firstIdAt(parseMoment("until", query.until));
  const from = query.since === undefined ? "" : firstIdAt(parseMoment("since", query.since));
  if (query.since !== undefined && query.until !== undefined && from > until) {
    throw invalid("since", "must not be later than until");
  }
  return { from, before: until < before ? until : before };
}
