import { ENVIRONMENTS } from "@upstow/contract";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../kernel/errors.ts";
import { record } from "../projects/audit/record.ts";
import { forgetProject } from "../webhooks/retention.ts";
import { deleteFilesBy, interrupted } from "./delete-files.ts";
import { listFileRows } from "./queries.ts";
import { listTrashed } from "./trash.ts";

const findAnyProject = statement((q, p: { id: string }) =>
  q.selectFrom("project").select(["id", "name", "deleted_at"]).where("id", "=", p.id),
);

const deleteReadKeys = statement((q, p: { projectId: string }) =>
  q.deleteFrom("read_key").where("project_id", "=", p.projectId),
);
const deleteRevocations = statement((q, p: { projectId: string }) =>
  q.deleteFrom("audience_revocation").where("project_id", "=", p.projectId),
);

const batchSize = 100;
const newestFirst = "~";
/** Before the end of any file, so that those that have ended are among them. */
const atNoTime = 0;

export interface Purge {
  id: string;
  deletedFiles: number;
  reclaimedBytes: number;
}

/**
 * Deletes the files that a deleted project left behind, as its owner would have, and its events. Works in batches, so
 * that a running service is never blocked; its deletion queue then removes the bytes. The next call finishes one that
 * was interrupted.
 */
export async function purgeProject(
  deps: Pick<Deps, "db" | "now" | "author">,
  id: string,
  stop?: AbortSignal,
): Promise<Purge> {
  const project = await deps.db.get(findAnyProject, { id });
  if (project === null) {
    throw new AppError("NOT_FOUND", `There is no project ${id}.`, { suggestion: "Check the id." });
  }
  if (project.deleted_at === null) {
    throw new AppError("VALIDATION_ERROR", `Project "${project.name}" is in use and was not purged.`, {
      suggestion: "Delete it first, in the dashboard or with DELETE /api/v1/projects/:id.",
    });
  }
  const purge = { id, deletedFiles: 0, reclaimedBytes: 0 };
  for (const environment of ENVIRONMENTS) {
    const scope = { projectId: id, environment };
    for (;;) {
      if (stop?.aborted) throw interrupted(purge.deletedFiles);
      const batch = await deps.db.transact(async (tx) => {
        const wanted = { ...scope, before: newestFirst, take: batchSize, now: atNoTime };
        const listed = await tx.all(listFileRows, wanted);
        const files = listed.length > 0 ? listed : await tx.all(listTrashed, wanted);
        const ids = files.map((file) => file.id);
        return deleteFilesBy(tx, deps, scope, ids, { purge: true });
      });
      if (batch.files.length === 0) break;
      purge.deletedFiles += batch.files.length;
      purge.reclaimedBytes += batch.reclaimedBytes;
    }
  }
  await deps.db.transact(async (tx) => {
    await tx.run(deleteReadKeys, { projectId: id });
    await tx.run(deleteRevocations, { projectId: id });
    await record(tx, deps.now(), deps.author, {
      action: "project.purged",
      target: { kind: "project", id, label: project.name },
      projectId: id,
      after: { deletedFiles: purge.deletedFiles },
    });
  });
  await forgetProject(deps.db, id);
  return purge;
}
