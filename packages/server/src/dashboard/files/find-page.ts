import { PAGE_DEFAULT } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { type Searcher, searchFiles } from "../../files/list-files.ts";
import { justAfter, type Span } from "../../files/look-through.ts";
import type { FoundFile } from "../../files/search/queries.ts";
import {
  decodeSortedCursor,
  directionOf,
  encodeSortedCursor,
  type Order,
  searchSorted,
} from "../../files/search/sorted-search.ts";
import {
  afterAllIds,
  boundsOf,
  decodeCursor,
  encodeCursor,
  endPage,
  type PageRequest,
} from "../../http/paging.ts";
import type { Actor } from "../../kernel/actor.ts";
import { timeOfId } from "../../kernel/ids.ts";
import { type SearchQuery, toFilter } from "./search-terms.ts";

interface FilePageQuery extends PageRequest, SearchQuery {
  since?: string;
  until?: string;
  /** The newest files come first if it is not set. */
  sort?: "date" | "name" | "-name" | "size" | "-size";
}

interface FilePage {
  rows: FoundFile[];
  nextCursor: string | null;
  hasMore: boolean;
  /** If there are too many files to sort: only those created until then are, or from then on in a descending order. */
  sortedTo: string | null;
}

/** A page of the dashboard's files in the requested order. */
export function findPage(
  { now }: Deps,
  searcher: Searcher,
  { projectId, environment }: Actor,
  query: FilePageQuery,
): Promise<FilePage> {
  const { sort = "-date", limit = PAGE_DEFAULT } = query;
  const wanted = { projectId, environment, take: limit + 1, now: now() };
  if (sort === "date" || sort === "-date") return findByDate(searcher, wanted, query, sort === "-date");
  const isDescending = sort.startsWith("-");
  return findSorted(searcher, wanted, query, { by: sort.endsWith("size") ? "size" : "name", isDescending });
}

type Wanted = Pick<Actor, "projectId" | "environment"> & { take: number; now: number };

/** Through the index that lists files, which can be read from both ends. */
async function findByDate(
  searcher: Searcher,
  wanted: Wanted,
  query: FilePageQuery,
  isDescending: boolean,
): Promise<FilePage> {
  const continuesAt = query.cursor === undefined ? null : decodeCursor(query.cursor);
  const bounds = boundsOf(query, isDescending && continuesAt !== null ? continuesAt : afterAllIds);
  const from = isDescending || continuesAt === null ? "" : justAfter(continuesAt);
  const span = { ...wanted, ...bounds, from: from > bounds.from ? from : bounds.from };
  const found = await searchFiles(searcher, span, toFilter(query), isDescending ? "desc" : "asc");
  const { shown, ...page } = endPage(found.rows, wanted.take);
  const rest = found.scannedTo === null ? page : { nextCursor: encodeCursor(found.scannedTo), hasMore: true };
  return { rows: shown, ...rest, sortedTo: null };
}

async function findSorted(
  searcher: Searcher,
  wanted: Wanted,
  query: FilePageQuery,
  order: Order,
): Promise<FilePage> {
  const after = query.cursor === undefined ? null : decodeSortedCursor(query.cursor, order);
  const bounds = boundsOf(query, afterAllIds);
  const span = { ...wanted, ...(after === null ? bounds : within(bounds, after.scannedTo, order)) };
  const { rows, scannedTo } = await searchSorted(searcher, span, toFilter(query), order, after);
  const shown = rows.slice(0, wanted.take - 1);
  const last = shown.at(-1);
  const hasMore = rows.length === wanted.take;
  const sortedTo = scannedTo ?? after?.scannedTo ?? "";
  return {
    rows: shown,
    hasMore,
    nextCursor: hasMore && last !== undefined ? encodeSortedCursor(last, order, sortedTo) : null,
    sortedTo: sortedTo === "" ? null : new Date(timeOfId(sortedTo)).toISOString(),
  };
}

function within({ from, before }: Span, scannedTo: string, order: Order): Span {
  if (scannedTo === "") return { from, before };
  if (directionOf(order) === "desc") return { from: scannedTo > from ? scannedTo : from, before };
  const end = justAfter(scannedTo);
  return { from, before: end < before ? end : before };
}
