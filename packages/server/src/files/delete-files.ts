import type { Environment, LogType } from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { FileRow, StorageDeletionRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../kernel/errors.ts";
import { recordUnlessKey } from "../projects/audit/record.ts";
import { writeLog } from "../projects/logs/queries.ts";
import { countedBytes } from "../projects/usage/period.ts";
import { type Released, releaseUsage } from "../projects/usage/quota.ts";
import {
  deleteEndedRows,
  deleteFileRows,
  deleteVariantsOfFiles,
  listEndedFiles,
  purgeFileRows,
  purgeTrashedRows,
} from "./queries.ts";
import { nameFiles } from "./serialize.ts";
import { removeBytes, scheduleDeletion, scheduleFileDeletion, schedulePurge } from "./storage-deletions.ts";

export interface Scope {
  projectId: string;
  environment: Environment;
}

type DeletedFile = Pick<
  FileRow,
  | "id"
  | "key"
  | "name"
  | "size_bytes"
  | "etag"
  | "reserved_period"
  | "store"
  | "stored_apart"
  | "upload_id"
  | "purge_at"
>;

export interface Deletion {
  files: { id: string; key: string }[];
  reclaimedBytes: number;
  /** For `removeBytes` after the commit. */
  deletions: StorageDeletionRow[];
}

export interface Manner {
  /** Without the trash, and what is in it. */
  purge?: boolean | undefined;
  /** Only what is in the trash, which is purged. */
  onlyTrashed?: boolean;
}

/**
 * Marks the rows as deleted, releases their quota and leaves the bytes to the deletion queue; what goes to the trash
 * keeps both. The URL stops working with the commit, and a file that was already deleted releases nothing a second time.
 */
export async function deleteFiles(
  tx: Queryable,
  now: number,
  { projectId, environment }: Scope,
  keysOrIds: string[],
  { onlyTrashed = false, purge = onlyTrashed }: Manner = {},
): Promise<Deletion> {
  const scope = { projectId, environment };
  const named = { ...scope, ...nameFiles(keysOrIds), now };
  const rows = onlyTrashed ? purgeTrashedRows : purge ? purgeFileRows : deleteFileRows;
  const deleted = await tx.all(rows, named);
  return settleDeleted(tx, now, scope, deleted, purge ? toPurgedEntry : toDeletedEntry);
}

interface LogEntry {
  type: LogType;
  message: string;
}

const toDeletedEntry = ({ name, purge_at }: DeletedFile): LogEntry => ({
  type: "file.deleted",
  message: `"${name}" was ${purge_at === null ? "deleted" : "moved to the trash"}.`,
});
export const toPurgedEntry = ({ name }: DeletedFile): LogEntry => ({
  type: "file.purged",
  message: `"${name}" was permanently deleted.`,
});

/** Follow-up work for rows that this transaction has marked as deleted. */
export async function settleDeleted<File extends DeletedFile>(
  tx: Queryable,
  now: number,
  scope: Scope,
  deleted: File[],
  toEntry: (file: File) => LogEntry,
): Promise<Deletion> {
  const [gone, trashed] = [
    deleted.filter((file) => file.purge_at === null),
    deleted.filter((file) => file.purge_at !== null),
  ];
  const stored = gone.filter((file) => file.etag !== null);
  const released = sumReleased(gone);
  if (gone.length > 0) await releaseUsage(tx, now, scope, released);
  const fileIdsJson = JSON.stringify(deleted.map((file) => file.id));
  const variants = deleted.length === 0 ? [] : await tx.all(deleteVariantsOfFiles, { fileIdsJson });
  const deletions = await Promise.all([
    ...gone.map((file) => scheduleFileDeletion(tx, now, file)),
    ...trashed.map((file) => schedulePurge(tx, now, file)),
    ...variants.map(({ store, store_key }) =>
      scheduleDeletion(tx, now, { store, key: store_key, upload_id: null }),
    ),
  ]);
  await Promise.all(
    deleted.map((file) =>
      writeLog(tx, now, { ...scope, ...toEntry(file), file, data: { size: file.size_bytes } }),
    ),
  );
  return {
    files: deleted,
    reclaimedBytes: stored.reduce((sum, file) => sum + file.size_bytes, 0),
    deletions,
  };
}

/** The same, for the audit trail of what people and operators delete. */
export async function deleteFilesBy(
  tx: Queryable,
  { now, author }: Pick<Deps, "now" | "author">,
  scope: Scope,
  keysOrIds: string[],
  manner: Manner = {},
): Promise<Deletion> {
  const deletion = await deleteFiles(tx, now(), scope, keysOrIds, manner);
  const [first] = deletion.files;
  if (first !== undefined)
    await recordUnlessKey(tx, now(), author, {
      action: "files.deleted",
      target: { kind: "files", id: first.id },
      projectId: scope.projectId,
      before: { ids: deletion.files.map(({ id }) => id) },
      after: { purge: manner.onlyTrashed || manner.purge },
    });
  return deletion;
}

/** A confirmed file counts as stored bytes, an open one as reserved bytes, a failed one as nothing. */
function sumReleased(files: DeletedFile[]): Released {
  const released: Released = { storedBytes: 0, reservedBytes: 0, uploadsByPeriod: new Map() };
  for (const file of files) {
    if (file.etag !== null) released.storedBytes += countedBytes(file, file.size_bytes);
    if (file.reserved_period === null) continue;
    released.reservedBytes += countedBytes(file, file.size_bytes);
    const count = released.uploadsByPeriod.get(file.reserved_period) ?? 0;
    released.uploadsByPeriod.set(file.reserved_period, count + 1);
  }
  return released;
}

/** A long deletion interrupted by shutdown; files deleted so far stay deleted. */
export function interrupted(deleted: number): AppError {
  return new AppError(
    "SERVICE_UNAVAILABLE",
    `The service is stopping; ${deleted} files were deleted so far.`,
    {
      suggestion: "Delete the rest when it runs again.",
      headers: { "retry-after": "10" },
    },
  );
}

const batchSize = 100;

/** Deletes files that have expired or were not claimed in time, as their owner could. They are already unreadable. */
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

/** A file of any project. */
export type InScope = Pick<FileRow, "id" | "project_id" | "environment">;

/** Counters of several projects in one transaction could block each other. */
export function groupByScope<File extends InScope>(files: File[]): File[][] {
  return [...Map.groupBy(files, (file) => `${file.project_id} ${file.environment}`).values()];
}

export function scopeOf([first]: InScope[]) {
  if (first === undefined) throw new Error("there is no file");
  return { projectId: first.project_id, environment: first.environment };
}
