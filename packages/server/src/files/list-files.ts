import { type FileListItem, type FileQuery, LIST_SCAN_MAX_BYTES, LIST_SCAN_MAX_ROWS } from "@upstow/contract";
import type { Database } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import { boundsOf, encodeCursor, endPage, startPage } from "../http/paging.ts";
import type { Actor } from "../kernel/actor.ts";
import { admitSearch, type FairTurns } from "../kernel/fair-turns.ts";
import { cdnFor } from "../projects/file-url.ts";
import { type FileFilter, includes, readPairs, selectFiles } from "./file-filter.ts";
import { type Budget, type Direction, justAfter, lookThrough, type Span } from "./look-through.ts";
import { listFileRows } from "./queries.ts";
import { countBy, type FoundFile, hasTests, type IdStretch, measureBy, searchBy } from "./search/queries.ts";
import { toListItem } from "./serialize.ts";

/** Keeps a call below 50 ms of CPU, even if rows were crafted to be costly (`npm run bench -- list-filters`). */
const budget: Budget = {
  rows: LIST_SCAN_MAX_ROWS,
  bytes: LIST_SCAN_MAX_BYTES,
  withinMs: 5_000,
};

/** The page as JSON. A filtered one may be short or empty even if more pages follow. */
export async function listFiles(deps: Deps, actor: Actor, query: FileQuery): Promise<string> {
  const { projectId, environment, accountId } = actor;
  const { before, take } = startPage(query);
  const now = deps.now();
  const cdn = cdnFor(deps.config, actor);
  if (isPlain(query)) {
    const rows = await deps.db.all(listFileRows, { projectId, environment, before, take, now });
    const { shown, ...page } = endPage(rows, take);
    return JSON.stringify({ files: shown.map((row) => toListItem(cdn, row)), ...page });
  }
  const selection = selectFiles(query, readPairs(query), actor, boundsOf(query, before));
  if (selection === null) return toPage([], endPage([], take));
  const { span, filter } = selection;
  admitSearch(deps.turns, accountId);
  const searcher = { db: deps.db, turns: deps.turns, accountId, budget };
  const wanted = { projectId, environment, ...span, take, now };
  const { rows, scannedTo } = await searchFiles(searcher, wanted, filter);
  const { shown, ...page } = endPage(rows, take);
  const items = shown.map((row) => toJson(toListItem(cdn, row), row, query));
  return toPage(items, scannedTo === null ? page : { nextCursor: encodeCursor(scannedTo), hasMore: true });
}

/** Sent as stored: parsing and serialising the metadata of a page costs more than the rest of the call. */
function toJson(item: FileListItem, row: FoundFile, query: FileQuery): string {
  const metadata = includes(query, "metadata") ? `,"metadata":${row.metadata}` : "";
  const image = includes(query, "image") ? `,"image":${row.image ?? "null"}` : "";
  return `${JSON.stringify(item).slice(0, -1)}${metadata}${image}}`;
}

function toPage(items: string[], { nextCursor, hasMore }: { nextCursor: string | null; hasMore: boolean }) {
  return `{"files":[${items.join()}],${JSON.stringify({ nextCursor, hasMore }).slice(1)}`;
}

/** Plain paging, which is most calls, so it must cost nothing extra. */
function isPlain(query: FileQuery): boolean {
  for (const field in query) if (field !== "limit" && field !== "cursor") return false;
  return true;
}

/** The searching account, its turns with others, and how much one request may read. */
export interface Searcher {
  db: Database;
  turns: FairTurns;
  accountId: string;
  budget: Budget;
}

/** Rows per read if some of them are filtered out here. */
const candidatesAtOnce = 200;

/**
 * Scans the environment's files in the order of their ids, through the index that lists them. An index over the texts
 * would slow every upload and differ per database; scanning 100,000 files takes a tenth of a second without one (`npm
 * run bench -- search`). Stops when the page is full or everything was scanned; otherwise returns the id to continue
 * after.
 */
export async function searchFiles(
  searcher: Searcher,
  wanted: IdStretch & { take: number },
  filter: FileFilter,
  direction: Direction = "desc",
): Promise<{ rows: FoundFile[]; scannedTo: string | null }> {
  // Every file matches, so one read fills the page: with metadata, of up to 1.6 MB.
  if (!isSelective(filter)) {
    const { turns, accountId } = searcher;
    const readPage = () => read(searcher, wanted, filter, direction);
    const rows = await (filter.withMetadata ? turns.take(accountId, readPage) : readPage());
    return { rows, scannedTo: null };
  }
  const rows: FoundFile[] = [];
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, filter, direction),
      async read(stretch) {
        const take = wanted.take - rows.length;
        const found = await readMatching(searcher, { ...wanted, ...stretch, take }, filter, direction);
        rows.push(...found.rows);
        return { isEnough: rows.length === wanted.take, dropped: found.dropped };
      },
    },
    wanted,
  );
  return { rows, scannedTo };
}

/** How many match within what one request may read, and their bytes; the next one continues at `scannedTo`. */
export async function countFiles(
  searcher: Searcher,
  wanted: IdStretch,
  filter: FileFilter,
): Promise<{ count: number; bytes: number; scannedTo: string | null }> {
  const { terms, isMatch } = filter;
  const countStretch = countBy(terms);
  let count = 0;
  let bytes = 0;
  const scannedTo = await lookThrough(
    {
      ...searchOf(searcher, wanted, filter),
      async read(stretch) {
        const span = { ...wanted, ...stretch };
        if (isMatch === undefined) {
          const found = await searcher.db.get(countStretch, { ...span, ...terms });
          count += found?.count ?? 0;
          bytes += found?.bytes ?? 0;
          return { isEnough: false, dropped: 0 };
        }
        const found = await readMatching(searcher, { ...span, take: Number.POSITIVE_INFINITY }, filter);
        count += found.rows.length;
        bytes += found.rows.reduce((sum, file) => sum + file.size_bytes, 0);
        return { isEnough: false, dropped: found.dropped + found.rows.length };
      },
    },
    wanted,
  );
  return { count, bytes, scannedTo };
}

function isSelective({ terms, isMatch }: FileFilter): boolean {
  return hasTests(terms) || isMatch !== undefined;
}

function read(
  { db }: Searcher,
  span: IdStretch & { take: number },
  { terms, withMetadata, withImage }: FileFilter,
  direction?: Direction,
) {
  return db.all(searchBy(terms, withMetadata, withImage, direction), { ...span, ...terms });
}

/** The database may return rows that do not match. */
export async function readMatching(
  searcher: Searcher,
  span: IdStretch & { take: number },
  filter: FileFilter,
  direction: Direction = "desc",
): Promise<{ rows: FoundFile[]; dropped: number }> {
  const { isMatch } = filter;
  if (isMatch === undefined) return { rows: await read(searcher, span, filter, direction), dropped: 0 };
  const rows: FoundFile[] = [];
  let seen = 0;
  for (let { from, before } = span; ; ) {
    const wanted = { ...span, from, before, take: candidatesAtOnce };
    const candidates = await read(searcher, wanted, filter, direction);
    rows.push(...candidates.filter(isMatch));
    seen += candidates.length;
    const last = candidates.at(-1);
    if (rows.length >= span.take || last === undefined || candidates.length < candidatesAtOnce) break;
    if (direction === "desc") before = last.id;
    else from = justAfter(last.id);
  }
  return { rows: rows.slice(0, span.take), dropped: seen - rows.length };
}

/** Parameters of a search in stretches, except for reading one. */
export function searchOf(
  { db, turns, accountId, budget }: Searcher,
  wanted: IdStretch,
  { terms, withMetadata }: FileFilter,
  direction: Direction = "desc",
) {
  const statement = measureBy(terms, withMetadata, direction);
  return {
    direction,
    dialect: db.dialect,
    turns,
    accountId,
    budget,
    measure: async (span: Span & { rows: number }) =>
      (await db.get(statement, { ...wanted, ...span })) ?? { id: null, count: 0, bytes: 0 },
  };
}
