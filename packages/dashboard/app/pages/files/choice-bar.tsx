import { formatBytes, formatCount } from "../../format.ts";
import { Failure } from "../../parts/states.tsx";
import type { BulkTask } from "./bulk-dialog.tsx";
import { type FileChoice, mostChosen } from "./use-file-choice.ts";

const changes = [
  ["access", "Access"],
  ["expiry", "Expiry"],
  ["metadata", "Metadata"],
] as const;

interface ChoiceBarProps {
  choice: FileChoice;
  /** More match than are loaded, and all that are loaded are chosen. */
  mayChooseMore: boolean;
  /** Viewers only download. */
  mayChange: boolean;
  onDelete: () => void;
  onTask: (task: BulkTask) => void;
}

export function ChoiceBar({ choice, mayChooseMore, mayChange, onDelete, onTask }: ChoiceBarProps) {
  const { chosen, matching } = choice;
  const count = matching?.count ?? chosen.size;
  if (chosen.size === 0 && matching === null) return null;
  return (
    <div className="chosen dock" role="status">
      <span className="count">
        {matching !== null
          ? `All ${formatCount(count)} that match are selected (${formatBytes(matching.bytes)})`
          : count === mostChosen
            ? `${formatCount(mostChosen)} selected, the maximum for single selection`
            : `${formatCount(count)} selected`}
      </span>
      {matching === null && mayChooseMore && (
        <button type="button" className="link" disabled={choice.isCounting} onClick={choice.chooseMatching}>
          {choice.isCounting ? "Counting…" : "Select all that match"}
        </button>
      )}
      <button type="button" disabled={count === 0} onClick={() => onTask("download")}>
        Download
      </button>
      {mayChange &&
        changes.map(([task, label]) => (
          <button type="button" key={task} disabled={count === 0} onClick={() => onTask(task)}>
            {label}
          </button>
        ))}
      {mayChange && (
        <button type="button" className="danger" disabled={count === 0} onClick={onDelete}>
          Delete {formatCount(count)}
        </button>
      )}
      <button type="button" onClick={choice.clear}>
        Clear selection
      </button>
      {choice.error !== null && <Failure error={choice.error} />}
    </div>
  );
}
