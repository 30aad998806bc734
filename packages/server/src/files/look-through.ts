import { KB, MB } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import type { DialectName } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { encodeCursor, endPage } from "../http/paging.ts";
import type { FairTurns } from "../kernel/fair-turns.ts";

/** Rows with ids from `from` on and below `before`. */
export interface Span {
  from: string;
  before: string;
}

/** Newest or oldest first. */
export type Direction = "desc" | "asc";

/** The first rows of a span, at most as many as requested. */
export interface Measured {
  /** The id of the last of them; null if there are none. */
  id: string | null;
  count: number;
  /** How much of their text a search would have to read. */
  bytes: number;
}

/** Maximum read by one statement: at worst about 25 ms of CPU on SQLite, if every byte is a near match. */
export const stretchLimits: Record<DialectName, { rows: number; bytes: number }> = {
  sqlite: { rows: 500, bytes: 512 * KB },
  postgres: { rows: 20_000, bytes: 4 * MB },
};

/** The first stretch of a request, before the cost of rows is known. */
const firstRows = 500;

/** Maximum read by one request before it returns a short page. It always reads at least one stretch. */
export interface Budget {
  rows: number;
  bytes: number;
  /** Since the request arrived, including time spent waiting for turns. */
  withinMs: number;
}

export const dashboardBudget: Budget = {
  rows: 200_000,
  bytes: Number.POSITIVE_INFINITY,
  withinMs: 5_000,
};

export interface Search {
  dialect: DialectName;
  turns: FairTurns;
  accountId: string;
  budget: Budget;
  /** Newest first, unless stated otherwise. */
  direction?: Direction;
  measure(span: Span & { rows: number }): Promise<Measured>;
  read(stretch: Span): Promise<Read>;
}

export interface Read {
  /** Ends the search. */
  isEnough: boolean;
  /** Rows returned by the database that did not match. */
  dropped: number;
}

/** A row that is returned in vain costs as much as this many tested by the database. */
const droppedCost = 8;

/** Reads a span stretch by stretch. Returns the id to continue after, or null if `read` ended it or nothing is left. */
export async function lookThrough(
  search: Search,
  span: Span,
  now: () => number = () => performance.now(),
): Promise<string | null> {
  const { budget, turns, accountId } = search;
  const most = stretchLimits[search.dialect];
  const endsAt = now() + budget.withinMs;
  const left = { rows: budget.rows, bytes: budget.bytes };
  let rows = Math.min(firstRows, most.rows);
  let rest = span;
  for (;;) {
    const looked = await turns.take(accountId, async () => {
      const limits = { rows: Math.min(rows, left.rows), bytes: Math.min(most.bytes, left.bytes) };
      const stretch = await fit(search, rest, limits);
      const [here, next] = split(rest, stretch.id, search.direction);
      return { ...stretch, next, ...(await search.read(stretch.isLast ? rest : here)) };
    });
    if (looked.isEnough || looked.isLast) return null;
    rest = looked.next;
    const cost = looked.count + droppedCost * looked.dropped;
    left.rows -= cost;
    left.bytes -= looked.bytes;
    if (Math.min(left.rows, left.bytes) <= 0 || now() > endsAt) return looked.id;
    // Neighbouring rows are similar, so grow slowly, and only within the remaining budget.
    const affordable = Math.ceil((looked.count * left.rows) / cost);
    rows = Math.min(looked.count * 2, most.rows, affordable);
  }
}

/** The part of a span up to an id, and what follows. */
function split(span: Span, id: string, direction: Direction = "desc"): [here: Span, next: Span] {
  if (direction === "desc")
    return [
      { from: id, before: span.before },
      { from: span.from, before: id },
    ];
  return [
    { from: span.from, before: justAfter(id) },
    { from: justAfter(id), before: span.before },
  ];
}

/** Sorts after the id, and before every later one. */
export const justAfter = (id: string) => `${id}~`;

interface PageSearch<Row> {
  /** Null counts as no rows. */
  measure(span: Span & { rows: number }): Promise<Measured | null>;
  read(stretch: Span & { take: number }): Promise<Row[]>;
}

/** A page of the dashboard. It may be short or empty although older rows match. */
export async function lookForPage<Row extends { id: string }>(
  { db, turns }: Pick<Deps, "db" | "turns">,
  accountId: string,
  { take, ...span }: Span & { take: number },
  { measure, read }: PageSearch<Row>,
): Promise<{ shown: Row[]; nextCursor: string | null; hasMore: boolean }> {
  const rows: Row[] = [];
  const search: Search = {
    ...{ dialect: db.dialect, turns, accountId, budget: dashboardBudget },
    measure: async (wanted) => (await measure(wanted)) ?? { id: null, count: 0, bytes: 0 },
    async read(stretch) {
      rows.push(...(await read({ ...stretch, take: take - rows.length })));
      return { isEnough: rows.length === take, dropped: 0 };
    },
  };
  const scannedTo = await lookThrough(search, span);
  const page = endPage(rows, take);
  return scannedTo === null ? page : { ...page, nextCursor: encodeCursor(scannedTo), hasMore: true };
}

interface Stretch {
  id: string;
  count: number;
  bytes: number;
  isLast: boolean;
}

/** Requests fewer rows until they fit the byte limit. One row is always allowed. */
async function fit(search: Search, span: Span, most: { rows: number; bytes: number }): Promise<Stretch> {
  for (let { rows } = most; ; rows = Math.max(1, rows >> 2)) {
    const { id, count, bytes } = await search.measure({ ...span, rows });
    if (id === null) return { id: span.from, count, bytes, isLast: true };
    if (bytes <= most.bytes || rows === 1) return { id, count, bytes, isLast: count < rows };
  }
}

/**
 * Whether a column contains a text; `text` comes from `foldCase`. LIKE with wildcards backtracks: one crafted term
 * took seconds over a few hundred rows. Both functions used here do at most one comparison per position.
 */
export function contains(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionIn(dialect, sql`lower(${sql.ref(column)})`, text)} > 0`;
}

/** The same, case-sensitive. */
export function containsExactly(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionIn(dialect, sql`${sql.ref(column)}`, text)} > 0`;
}

export function startsWith(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionIn(dialect, sql`lower(${sql.ref(column)})`, text)} = 1`;
}

/** Reads no more of the column than the text's length. */
export function startsExactlyWith(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return dialect === "sqlite"
    ? sql<boolean>`substr(${sql.ref(column)}, 1, length(${text})) = ${text}`
    : sql<boolean>`starts_with(${sql.ref(column)}, ${text})`;
}

function positionIn(dialect: DialectName, value: RawBuilder<unknown>, text: string): RawBuilder<number> {
  return sql<number>`${sql.raw(dialect === "sqlite" ? "instr" : "strpos")}(${value}, ${text})`;
}

/** Folds A to Z and nothing else, as both engines' lower() does here. */
export function foldCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Folds the letters of every script. By way of lower case, so that "K" of Kelvin and "ς" at a word's end fold too. */
export function foldAnyCase(text: string): string {
  return text.toLowerCase().toUpperCase();
}

/** A text as it appears inside a JSON string. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
