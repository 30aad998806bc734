import { Failure } from "../../parts/states.tsx";
import type { FileDeletion } from "./use-file-deletion.ts";

export function UndoBar({ deletion }: { deletion: FileDeletion }) {
  const count = deletion.waiting.length;
  return (
    <div className="toast" role="status">
      {deletion.error !== null && <Failure error={deletion.error} />}
      {count > 0 && (
        <p>
          {count === 1 ? "One file" : `${count} files`} will be deleted.
          <button type="button" onClick={deletion.undo}>
            Undo
          </button>
        </p>
      )}
    </div>
  );
}
