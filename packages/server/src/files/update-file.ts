import type { UpdateFileBody } from "@upstow/contract";
import type { FileTable, StorageDeletionTable } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { invalid, notFound } from "../kernel/errors.ts";
import { writeLog } from "../projects/logs/write-log.ts";
import { nameFile } from "./name-file.ts";
import { type FileChanges, updateFile as updateRow } from "./queries.ts";
import { removeBytes, schedulePurge } from "./storage-deletions.ts";
import { serialiseMetadata } from "./uploads/metadata.ts";

/** Replaces what the body names and leaves the rest. The key and the URL never change. */
export async function updateFile(
  deps: Deps,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
  keyOrId: string,
  body: UpdateFileBody,
): Promise<FileTable> {
  const changes = toChanges(body);
  const scope = { projectId, environment };
  const now = deps.now();
  const purges: StorageDeletionTable[] = [];
  const file = await deps.db.transact(async (tx) => {
    purges.length = 0;
    const updated = await tx.get(updateRow, { ...scope, ...nameFile(keyOrId), ...changes, now });
    if (updated === null) throw notFound("File");
    const message = describe(changes, updated.name);
    await writeLog(tx, now, { ...scope, type: "file.updated", message, file: updated });
    // Responses carry the name, and shared caches keep them for a year.
    const isCached = deps.cdn !== null && changes.name !== null && updated.completed_at !== null;
    if (isCached) purges.push(await schedulePurge(tx, now, updated));
    return updated;
  });
  await removeBytes(deps, purges);
  return file;
}

function toChanges({ metadata, name }: UpdateFileBody): FileChanges {
  if (metadata === undefined && name === undefined) throw invalid("metadata", "or name is required");
  return { name: name ?? null, metadata: metadata === undefined ? null : serialiseMetadata(metadata) };
}

function describe({ name, metadata }: FileChanges, currentName: string): string {
  if (name === null) return `Metadata of "${currentName}" was replaced.`;
  return `Renamed to "${name}"${metadata === null ? "" : ", and its metadata was replaced"}.`;
}
