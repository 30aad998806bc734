import { type FileListItem, type FileQuery, LIST_SCAN_MAX_BYTES, LIST_SCAN_MAX_ROWS } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { boundsOf } from "../../http/moment.ts";
import { encodeCursor, endPage, startPage } from "../../http/paging.ts";
import type { Actor } from "../api-keys/actor.ts";
import { admitSearch, type Budget } from "../search/look-through.ts";
import { selectFiles } from "./file-filter.ts";
import { cdnFor } from "./file-url.ts";
import { readPairs } from "./metadata-pairs.ts";
import { listFiles as listRows } from "./queries.ts";
import { searchFiles } from "./search-files.ts";
import { toListItem } from "./serialize.ts";

/** Below 50 ms of CPU, whatever the rows are like: time ends it where they are costly to read. */
const budget: Budget = {
  rows: LIST_SCAN_MAX_ROWS,
  bytes: LIST_SCAN_MAX_BYTES,
  withinMs: 5_000,
  workMs: 25,
};

type FilePage = {
  files: FileListItem[];
  nextCursor: string | null;
  hasMore: boolean;
};

const emptyPage: FilePage = { files: [], nextCursor: null, hasMore: false };

/** A filtered page may be short or empty and still have more behind it. */
export async function listFiles(deps: Deps, actor: Actor, query: FileQuery): Promise<FilePage> {
  const { projectId, environment, accountId } = actor;
  const { before, take } = startPage(query);
  const cdn = cdnFor(deps.config, actor);
  if (isPlain(query)) {
    const rows = await deps.db.all(listRows, { projectId, environment, before, take });
    const { shown, ...page } = endPage(rows, take);
    return { files: shown.map((row) => toListItem(cdn, row)), ...page };
  }
  const selection = selectFiles(query, readPairs(query), actor, boundsOf(query, before));
  if (selection === null) return emptyPage;
  const { span, filter } = selection;
  admitSearch(deps.turns, accountId);
  const searcher = { db: deps.db, turns: deps.turns, accountId, budget };
  const wanted = { projectId, environment, ...span, take };
  const { rows, scannedTo } = await searchFiles(searcher, wanted, filter);
  const { shown, ...page } = endPage(rows, take);
  const files = shown.map((row) => ({
    ...toListItem(cdn, row),
    ...(query.include === "metadata" ? { metadata: JSON.parse(row.metadata) } : {}),
  }));
  return scannedTo === null
    ? { files, ...page }
    : { files, nextCursor: encodeCursor(scannedTo), hasMore: true };
}

/** Nothing but paging: most calls, so they cost nothing more. */
function isPlain(query: FileQuery): boolean {
  for (const field in query) if (field !== "limit" && field !== "cursor") return false;
  return true;
}
