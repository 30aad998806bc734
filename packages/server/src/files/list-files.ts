import { type FileListItem, type FileQuery, LIST_SCAN_MAX_BYTES, LIST_SCAN_MAX_ROWS } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import { boundsOf } from "../http/moment.ts";
import { encodeCursor, endPage, startPage } from "../http/paging.ts";
import type { Actor } from "../kernel/actor.ts";
import { cdnFor } from "../projects/file-url.ts";
import { selectFiles } from "./file-filter.ts";
import { readPairs } from "./metadata-pairs.ts";
import { listFiles as listRows } from "./queries.ts";
import { admitSearch, type Budget } from "./search/look-through.ts";
import { searchFiles } from "./search-files.ts";
import { toListItem } from "./serialize.ts";

/** Keeps a call below 50 ms of CPU, also where rows were made to be costly (`npm run bench -- list-filters`). */
const budget: Budget = {
  rows: LIST_SCAN_MAX_ROWS,
  bytes: LIST_SCAN_MAX_BYTES,
  withinMs: 5_000,
};

/** The page as JSON. A filtered one may be short or empty and still have more behind it. */
export async function listFiles(deps: Deps, actor: Actor, query: FileQuery): Promise<string> {
  const { projectId, environment, accountId } = actor;
  const { before, take } = startPage(query);
  const cdn = cdnFor(deps.config, actor);
  if (isPlain(query)) {
    const rows = await deps.db.all(listRows, { projectId, environment, before, take });
    const { shown, ...page } = endPage(rows, take);
    return JSON.stringify({ files: shown.map((row) => toListItem(cdn, row)), ...page });
  }
  const selection = selectFiles(query, readPairs(query), actor, boundsOf(query, before));
  if (selection === null) return toPage([], endPage([], take));
  const { span, filter } = selection;
  admitSearch(deps.turns, accountId);
  const searcher = { db: deps.db, turns: deps.turns, accountId, budget };
  const wanted = { projectId, environment, ...span, take };
  const { rows, scannedTo } = await searchFiles(searcher, wanted, filter);
  const { shown, ...page } = endPage(rows, take);
  const items = shown.map((row) => toJson(toListItem(cdn, row), query.include ? row.metadata : null));
  return toPage(items, scannedTo === null ? page : { nextCursor: encodeCursor(scannedTo), hasMore: true });
}

/** Metadata goes out as it is stored: reading and writing a page of it costs more than the rest of the call. */
function toJson(item: FileListItem, metadata: string | null): string {
  const text = JSON.stringify(item);
  return metadata === null ? text : `${text.slice(0, -1)},"metadata":${metadata}}`;
}

function toPage(items: string[], { nextCursor, hasMore }: { nextCursor: string | null; hasMore: boolean }) {
  return `{"files":[${items.join()}],${JSON.stringify({ nextCursor, hasMore }).slice(1)}`;
}

/** Nothing but paging: most calls, so they cost nothing more. */
function isPlain(query: FileQuery): boolean {
  for (const field in query) if (field !== "limit" && field !== "cursor") return false;
  return true;
}
