import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import type { Queryable } from "../db/database.ts";
import type { FileMoveRow, FileRow } from "../db/schema.ts";
import { isOneOf, statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { recordUnlessKey } from "../projects/audit/record.ts";
import { writeLog } from "../projects/logs/queries.ts";
import { placeFor } from "../storage/storage-key.ts";
import {
  type Deletion,
  groupByScope,
  type InScope,
  type Scope,
  scopeOf,
  settleDeleted,
  toPurgedEntry,
} from "./delete-files.ts";
import { moveBytes, scheduleMove } from "./file-moves.ts";
import { areNamed, deletedColumns, type Named } from "./queries.ts";
import { nameFiles } from "./serialize.ts";
import { removeBytes } from "./storage-deletions.ts";

/** Drops an expiry that would delete the restored file immediately. Its links stay revoked. */
const restoreFileRows = statement((q, p: Named, dialect) =>
  q
    .updateTable("file")
    .set({
      status: "UPLOADED",
      purge_at: null,
      claim_by: null,
      expires_at: sql`case when expires_at > ${p.now} then expires_at end`,
      updated_at: p.now,
    })
    .where(areNamed(p, dialect))
    .where("purge_at", ">", p.now)
    .returningAll(),
);

const listDue = statement((q, p: { now: number; take: number }) =>
  q
    .selectFrom("file")
    .select(["id", "project_id", "environment"])
    .where("purge_at", "<=", p.now)
    .orderBy("purge_at")
    .limit(p.take),
);

/** Guarded by the moment, so that a file that was restored stays. */
const purgeDueRows = statement(
  (
    q,
    p: { projectId: string; environment: Environment; idsJson: string; until: number; now: number },
    dialect,
  ) =>
    q
      .updateTable("file")
      .set({ purge_at: null, updated_at: p.now })
      .where(isOneOf(dialect, "id", p.idsJson))
      .where("project_id", "=", p.projectId)
      .where("environment", "=", p.environment)
      .where("purge_at", "<=", p.until)
      .returning(deletedColumns),
);

const listTrashToEmpty = statement((q, p: { take: number }) =>
  q.selectFrom("project").select("id").where(sql<boolean>`trash_days < 0`).limit(p.take),
);
const markEmptied = statement((q, p: { id: string }) =>
  q.updateTable("project").set({ trash_days: 0 }).where("id", "=", p.id).where(sql<boolean>`trash_days < 0`),
);

/** A literal, to match the index. */
export const listTrashed = statement((q, p: { projectId: string; environment: Environment; take: number }) =>
  q
    .selectFrom("file")
    .select(["id", "key", "project_id", "environment"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(sql<boolean>`purge_at is not null`)
    .limit(p.take),
);

/** A page for people, with when each file was deleted and when it will be purged. */
export const listTrashPage = statement((q, p: Scope & { before: string; take: number; now: number }) =>
  q
    .selectFrom("file")
    .select(["id", "key", "name", "size_bytes", "type", "updated_at", sql<number>`purge_at`.as("purge_at")])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(sql<boolean>`purge_at is not null`)
    .where("purge_at", ">", p.now)
    .where("id", "<", p.before)
    .orderBy("id", "desc")
    .limit(p.take),
);

const batchSize = 100;
const everyMoment = Number.MAX_SAFE_INTEGER;

/** Brings files back from the trash. Of a restoration and the end of the trash, one wins. */
export async function restoreFiles(
  deps: Deps,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
  keysOrIds: string[],
  onSaved: (tx: Queryable, restored: FileRow[]) => Promise<void>,
): Promise<FileRow[]> {
  const scope = { projectId, environment };
  const now = deps.now();
  const { files, moves } = await deps.db.transact(async (tx) => {
    const files = await tx.all(restoreFileRows, { ...scope, ...nameFiles(keysOrIds), now });
    const moves: FileMoveRow[] = [];
    for (const file of files) {
      await writeLog(tx, now, {
        ...scope,
        type: "file.restored",
        message: `"${file.name}" was restored.`,
        file,
      });
      // Its access had just changed when it was deleted.
      if (file.stored_apart !== placeFor(file)) moves.push(...(await scheduleMove(tx, now, file)));
    }
    const [first] = files;
    if (first !== undefined)
      await recordUnlessKey(tx, now, deps.author, {
        action: "file.updated",
        target: { kind: "files", id: first.id },
        projectId,
        before: { status: "DELETED" },
        after: { status: "UPLOADED", ids: files.map(({ id }) => id) },
      });
    await onSaved(tx, files);
    return { files, moves };
  });
  await moveBytes(deps, moves);
  return files;
}

/** Removes what has been in the trash long enough, and what deleted projects have in theirs. */
export async function purgeTrash(deps: Deps, signal?: AbortSignal): Promise<number> {
  let count = 0;
  while (signal?.aborted !== true) {
    const now = deps.now();
    const due = await deps.db.all(listDue, { now, take: batchSize });
    for (const files of groupByScope(due)) count += (await purge(deps, files, now)).files.length;
    if (due.length < batchSize) break;
  }
  for (const { id } of await deps.db.all(listTrashToEmpty, { take: batchSize }))
    count += await emptyTrash(deps, id, signal);
  return count;
}

async function emptyTrash(deps: Deps, projectId: string, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (const environment of ["live", "test"] as const) {
    for (;;) {
      if (signal?.aborted) return count;
      const files = await deps.db.all(listTrashed, { projectId, environment, take: batchSize });
      if (files.length === 0) break;
      count += (await purge(deps, files, everyMoment)).files.length;
    }
  }
  await deps.db.run(markEmptied, { id: projectId });
  return count;
}

async function purge(deps: Deps, files: InScope[], until: number): Promise<Deletion> {
  const scope = scopeOf(files);
  const now = deps.now();
  const deletion = await deps.db.transact(async (tx) => {
    const idsJson = JSON.stringify(files.map(({ id }) => id));
    const rows = await tx.all(purgeDueRows, { ...scope, idsJson, until, now });
    return settleDeleted(tx, now, scope, rows, toPurgedEntry);
  });
  await removeBytes(deps, deletion.deletions);
  return deletion;
}
