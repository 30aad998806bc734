import { formatCount } from "../../format.ts";
import { Failure } from "../../parts/states.tsx";
import type { BulkTask } from "./bulk-dialog.tsx";
import { type FileChoice, mostChosen } from "./use-file-choice.ts";

interface ChoiceBarProps {
  choice: FileChoice;
  /** More match than are loaded, and all that are loaded are chosen. */
  mayChooseMore: boolean;
  onDelete: () => void;
  /** Of those that are selected one by one. */
  onChange: (task: BulkTask) => void;
}

export function ChoiceBar({ choice, mayChooseMore, onDelete, onChange }: ChoiceBarProps) {
  const { chosen, matching } = choice;
  const count = matching?.count ?? chosen.size;
  if (chosen.size === 0 && matching === null) return null;
  return (
    <div className="chosen dock" role="status">
      {matching !== null
        ? `All ${formatCount(count)} that match are selected`
        : count === mostChosen
          ? `${formatCount(mostChosen)} selected, the most one by one`
          : `${formatCount(count)} selected`}
      {matching === null && mayChooseMore && (
        <button type="button" className="link" disabled={choice.isCounting} onClick={choice.chooseMatching}>
          {choice.isCounting ? "Counting…" : "Select all that match"}
        </button>
      )}
      {matching === null && (
        <>
          <button type="button" onClick={() => onChange("download")}>
            Download
          </button>
          <button type="button" onClick={() => onChange("access")}>
            Access
          </button>
          <button type="button" onClick={() => onChange("expiry")}>
            Expiry
          </button>
          <button type="button" onClick={() => onChange("metadata")}>
            Metadata
          </button>
        </>
      )}
      <button type="button" className="danger" disabled={count === 0} onClick={onDelete}>
        Delete {formatCount(count)}
      </button>
      <button type="button" onClick={choice.clear}>
        Clear selection
      </button>
      {choice.error !== null && <Failure error={choice.error} />}
    </div>
  );
}
