import { crc32 } from "node:zlib";
import { PAGE_DEFAULT } from "@upstow/contract";
import { invalid } from "../kernel/errors.ts";
import { firstIdAt, isId } from "../kernel/ids.ts";

/** Sorts after every id, so that the first page starts at the newest row. */
export const afterAllIds = "~";

export interface PageRequest {
  limit?: number;
  cursor?: string;
}

/** Rows are sorted newest first by id; a page reads one extra row to know whether there is another page. */
export function startPage(request: PageRequest): { before: string; take: number } {
  return {
    before: request.cursor === undefined ? afterAllIds : decodeCursor(request.cursor),
    take: (request.limit ?? PAGE_DEFAULT) + 1,
  };
}

export function endPage<Row extends { id: string }>(rows: Row[], take: number) {
  const shown = rows.slice(0, take - 1);
  const hasMore = rows.length === take;
  const last = shown.at(-1);
  return { shown, hasMore, nextCursor: hasMore && last !== undefined ? encodeCursor(last.id) : null };
}

/** For a page that continues after an id that it does not show. Without the sum, a damaged cursor could be valid. */
export function encodeCursor(id: string): string {
  return Buffer.from(`v1:${id}:${crc32(id).toString(36)}`).toString("base64url");
}

export function decodeCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  const [, id = ""] = text.split(":");
  if (!isId(id) || encodeCursor(id) !== cursor)
    throw invalid("cursor", "is damaged; use nextCursor as it was returned");
  return id;
}

/** A leap second is a valid date-time that JavaScript cannot represent; as NaN it would not limit anything. */
export function parseMoment(field: string, text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) throw invalid(field, "is not a valid time");
  return timeMs;
}

/** Ids begin with their creation time, so these are the ids from `since` on and before `until`. */
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
