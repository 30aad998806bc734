import { CHANGES_PER_CALL, Type, UpdateFileBody } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { FileFilter } from "../../files/file-filter.ts";
import { type Searcher, searchFiles } from "../../files/list-files.ts";
import { updateFile } from "../../files/update-file.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError } from "../../kernel/errors.ts";

const { access, expiresAt, expiresIn, metadata } = UpdateFileBody.properties;
/** Fields that can be set on many files. */
export const ChangeBody = Type.Object({ access, expiresAt, expiresIn, metadata });
type Change = Pick<UpdateFileBody, "access" | "expiresAt" | "expiresIn" | "metadata">;

/** Each is its own transaction, which others wait for only briefly. */
const atOnce = 4;

/** Returns how many there still were to change. */
export async function changeFiles(deps: Deps, actor: Actor, ids: string[], change: Change): Promise<number> {
  const waiting = ids.values();
  let changed = 0;
  const work = async () => {
    for (const id of waiting) if (await changeOne(deps, actor, id, change)) changed++;
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return changed;
}

async function changeOne(deps: Deps, actor: Actor, id: string, change: Change): Promise<boolean> {
  try {
    await updateFile(deps, actor, id, change);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return false;
    throw error;
  }
}

/**
 * Changes the newest files that a search finds below an id, as many as one call may. The caller continues below `before`
 * until it is null, and sees how far it has come.
 */
export async function changeMatching(
  deps: Deps,
  searcher: Searcher,
  actor: Actor,
  bounds: { from: string; before: string },
  filter: FileFilter,
  change: Change,
): Promise<{ changed: number; before: string | null }> {
  const { projectId, environment } = actor;
  const wanted = { projectId, environment, ...bounds, take: CHANGES_PER_CALL, now: deps.now() };
  const { rows, scannedTo } = await searchFiles(searcher, wanted, filter);
  const ids = rows.map((row) => row.id);
  const changed = await changeFiles(deps, actor, ids, change);
  return { changed, before: ids.length === CHANGES_PER_CALL ? (ids.at(-1) ?? null) : scannedTo };
}
