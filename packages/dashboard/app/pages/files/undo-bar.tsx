import { formatMany } from "../../format.ts";
import { endOfFiles } from "../../parts/after-deletion.ts";
import { Failure } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { FoundFile } from "./found-file.ts";
import type { Deletion, FileDeletion } from "./use-file-deletion.ts";

/** What is about to be deleted, and whether it can be restored afterwards. */
export function UndoBar({ deletion, files }: { deletion: FileDeletion; files: FoundFile[] }) {
  const { project } = useWorkspace();
  const { waiting } = deletion;
  return (
    <div className="toast" role="status">
      {deletion.error !== null && <Failure error={deletion.error} />}
      {waiting !== null && (
        <p>
          {describe(waiting, files, project.trashDays)}
          <button type="button" onClick={deletion.undo}>
            Undo
          </button>
        </p>
      )}
    </div>
  );
}

/** Only what was uploaded goes to the trash. */
function describe(waiting: Deletion, files: FoundFile[], trashDays: number): string {
  const count = "ids" in waiting ? waiting.ids.size : waiting.count;
  const some = count === 1 ? "One file" : formatMany(count, "file");
  const others =
    "ids" in waiting ? files.filter(({ id, status }) => waiting.ids.has(id) && status !== "UPLOADED") : [];
  if (trashDays === 0 || others.length === count) return `${some} will be deleted permanently.`;
  return "ids" in waiting && others.length === 0
    ? `${some} will go to the trash for ${formatMany(trashDays, "day")}.`
    : `${some} will be deleted. Finished uploads ${endOfFiles(trashDays)}.`;
}
