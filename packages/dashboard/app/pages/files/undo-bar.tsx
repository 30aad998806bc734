import { formatCount } from "../../format.ts";
import { Failure } from "../../parts/states.tsx";
import type { FileDeletion } from "./use-file-deletion.ts";

export function UndoBar({ deletion }: { deletion: FileDeletion }) {
  const { waitingCount } = deletion;
  return (
    <div className="toast" role="status">
      {deletion.error !== null && <Failure error={deletion.error} />}
      {waitingCount > 0 && (
        <p>
          {waitingCount === 1 ? "One file" : `${formatCount(waitingCount)} files`} will be deleted.
          <button type="button" onClick={deletion.undo}>
            Undo
          </button>
        </p>
      )}
    </div>
  );
}
