import type { Deps } from "../deps.ts";
import { settleDeleted } from "./delete-files.ts";
import { deleteEndedRows, listEndedFiles } from "./queries.ts";
import { groupByScope, type InScope, scopeOf } from "./scopes.ts";
import { removeBytes } from "./storage-deletions.ts";

const batchSize = 100;

/** Deletes files that have expired or were not claimed in time, as a call of their owner would. Nobody can read them any more. */
export async function deleteEndedFiles(deps: Deps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  while (signal?.aborted !== true) {
    const due = await deps.db.all(listEndedFiles, { now: deps.now(), take: batchSize });
    for (const files of groupByScope(due)) count += await deleteGroup(deps, files);
    if (due.length < batchSize) break;
  }
  return count;
}

async function deleteGroup(deps: Deps, files: InScope[]): Promise<number> {
  const scope = scopeOf(files);
  const now = deps.now();
  const { files: deleted, deletions } = await deps.db.transact(async (tx) => {
    const idsJson = JSON.stringify(files.map(({ id }) => id));
    const rows = await tx.all(deleteEndedRows, { ...scope, idsJson, now });
    return settleDeleted(tx, now, scope, rows, ({ name, expires_at }) => ({
      type: "file.expired",
      message: `"${name}" ${expires_at !== null && expires_at <= now ? "expired" : "was not claimed in time"}.`,
    }));
  });
  await removeBytes(deps, deletions);
  return deleted.length;
}
