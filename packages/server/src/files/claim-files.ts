import type { Queryable } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { recordUnlessKey } from "../projects/audit/record.ts";
import { writeLog } from "../projects/logs/queries.ts";
import { claimFileRows, listClaimed } from "./queries.ts";
import { nameFiles } from "./serialize.ts";

type Claimed = { id: string; key: string }[];

/**
 * Keeps files that would be deleted otherwise. Files that need no claim count as claimed, so the call can be repeated.
 * Of a claim and the end of a file, one wins.
 */
export async function claimFiles(
  deps: Deps,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
  keysOrIds: string[],
  onSaved: (tx: Queryable, claimed: Claimed) => Promise<void>,
): Promise<Claimed> {
  const scope = { projectId, environment };
  const now = deps.now();
  const named = { ...scope, ...nameFiles(keysOrIds), now };
  return deps.db.transact(async (tx) => {
    const files = await tx.all(claimFileRows, named);
    for (const file of files)
      await writeLog(tx, now, {
        ...scope,
        type: "file.claimed",
        message: `"${file.name}" was claimed.`,
        file,
      });
    // Those that were just claimed are among them.
    const claimed = await tx.all(listClaimed, named);
    const [first] = claimed;
    if (first !== undefined)
      await recordUnlessKey(tx, now, deps.author, {
        action: "file.updated",
        target: { kind: "files", id: first.id },
        projectId,
        after: { ids: claimed.map(({ id }) => id) },
      });
    await onSaved(tx, claimed);
    return claimed;
  });
}
