import { KB, MB, SEARCHES_WAITING_MAX } from "@upstow/contract";
import type { DialectName } from "../../../db/statement.ts";
import { AppError } from "../../../errors.ts";
import type { FairTurns } from "../../../fair-turns.ts";

/** Rows with ids from `from` on and below `before`, newest first. */
export interface Span {
  from: string;
  before: string;
}

/** The newest rows of a span, at most as many as asked for. */
export interface Measured {
  /** The smallest id among them; null where there are none. */
  id: string | null;
  count: number;
  /** How much text a search would have to read in them. */
  bytes: number;
}

/** What one statement may read: on SQLite about 25 ms of CPU at worst, with every byte a near match. */
export const stretchLimits: Record<DialectName, { rows: number; bytes: number }> = {
  sqlite: { rows: 500, bytes: 512 * KB },
  postgres: { rows: 20_000, bytes: 4 * MB },
};
/** What one request may read before it returns a short page. */
const rowsPerRequest = 200_000;
const requestWithinMs = 5_000;

export interface Search {
  dialect: DialectName;
  turns: FairTurns;
  accountId: string;
  measure(span: Span & { rows: number }): Promise<Measured>;
  /** Reads one stretch; true ends the search. */
  read(stretch: Span): Promise<boolean>;
}

/** Refuses a search where the account already has too many waiting. */
export function admitSearch(turns: FairTurns, accountId: string): void {
  if (turns.waitingOf(accountId) < SEARCHES_WAITING_MAX) return;
  throw new AppError("RATE_LIMITED", "Too many searches at once. Retry after 5 seconds.", {
    suggestion: "Wait for the searches that are running.",
    headers: { "retry-after": "5" },
  });
}

/** Reads a span stretch by stretch. Returns the id to continue below, or null if `read` ended it or nothing is left. */
export async function lookThrough(
  search: Search,
  span: Span,
  now: () => number = () => performance.now(),
): Promise<string | null> {
  const endsAt = now() + requestWithinMs;
  let { rows } = stretchLimits[search.dialect];
  let { before } = span;
  for (let seen = 0; seen < rowsPerRequest; ) {
    const looked = await search.turns.take(search.accountId, async () => {
      const stretch = await fit(search, { from: span.from, before }, rows);
      const from = stretch.isLast ? span.from : stretch.id;
      return { ...stretch, isEnough: await search.read({ from, before }) };
    });
    if (looked.isEnough || looked.isLast) return null;
    seen += looked.count;
    before = looked.id;
    // Neighbours are of similar size; grow again slowly.
    rows = Math.min(looked.count * 2, stretchLimits[search.dialect].rows);
    if (now() > endsAt) break;
  }
  return before;
}

interface Stretch {
  id: string;
  count: number;
  isLast: boolean;
}

/** Asks for fewer rows until they fit the byte limit. One row always goes. */
async function fit(search: Search, span: Span, mostRows: number): Promise<Stretch> {
  const { bytes: mostBytes } = stretchLimits[search.dialect];
  for (let rows = mostRows; ; rows = Math.max(1, rows >> 2)) {
    const { id, count, bytes } = await search.measure({ ...span, rows });
    if (id === null) return { id: span.from, count, isLast: true };
    if (bytes <= mostBytes || rows === 1) return { id, count, isLast: count < rows };
  }
}
