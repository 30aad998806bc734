import type { Deps } from "../../deps.ts";
import { deleteFilesBy, interrupted, type Manner } from "../../files/delete-files.ts";
import type { FileFilter } from "../../files/file-filter.ts";
import { type Searcher, searchFiles } from "../../files/list-files.ts";
import { removeBytes } from "../../files/storage-deletions.ts";
import type { Actor } from "../../kernel/actor.ts";

/** Each batch is its own transaction, so that a large selection does not block others. */
const batchSize = 100;

export async function deleteChosen(
  deps: Deps,
  actor: Actor,
  ids: string[],
  manner?: Manner,
): Promise<{ deleted: number }> {
  let deleted = 0;
  for (let from = 0; from < ids.length; from += batchSize)
    deleted += await deleteBatch(deps, actor, ids.slice(from, from + batchSize), manner);
  return { deleted };
}

/** Deletes everything a search finds, even if the caller no longer waits for the response. */
export async function deleteMatching(
  deps: Deps,
  searcher: Searcher,
  actor: Actor,
  bounds: { from: string; before: string },
  filter: FileFilter,
  stop: AbortSignal,
): Promise<{ deleted: number }> {
  const { projectId, environment } = actor;
  let deleted = 0;
  for (let before: string | null = bounds.before; before !== null; ) {
    if (stop.aborted) throw interrupted(deleted);
    const wanted = { projectId, environment, from: bounds.from, before, take: batchSize, now: deps.now() };
    const { rows, scannedTo } = await searchFiles(searcher, wanted, filter);
    deleted += await deleteBatch(
      deps,
      actor,
      rows.map((row) => row.id),
    );
    before = rows.length === batchSize ? (rows.at(-1)?.id ?? null) : scannedTo;
  }
  return { deleted };
}

async function deleteBatch(
  deps: Deps,
  { projectId, environment }: Actor,
  ids: string[],
  manner?: Manner,
): Promise<number> {
  if (ids.length === 0) return 0;
  const done = await deps.db.transact((tx) =>
    deleteFilesBy(tx, deps, { projectId, environment }, ids, manner),
  );
  await removeBytes(deps, done.deletions);
  return done.files.length;
}
