import { formatCount } from "../../format.ts";
import { Failure } from "../../parts/states.tsx";
import { type FileChoice, mostChosen } from "./use-file-choice.ts";

interface ChoiceBarProps {
  choice: FileChoice;
  /** More match than are loaded, and all that are loaded are chosen. */
  mayChooseMore: boolean;
  onDelete: () => void;
}

export function ChoiceBar({ choice, mayChooseMore, onDelete }: ChoiceBarProps) {
  const { chosen, matching } = choice;
  const count = matching?.count ?? chosen.size;
  if (chosen.size === 0 && matching === null) return null;
  return (
    <div className="chosen" role="status">
      {matching !== null
        ? `All ${formatCount(count)} that match are chosen`
        : count === mostChosen
          ? `${formatCount(mostChosen)} chosen, the most one by one`
          : `${formatCount(count)} chosen`}
      {matching === null && mayChooseMore && (
        <button type="button" className="link" disabled={choice.isCounting} onClick={choice.chooseMatching}>
          {choice.isCounting ? "Counting …" : "Choose all that match"}
        </button>
      )}
      <button type="button" className="danger" disabled={count === 0} onClick={onDelete}>
        Delete {formatCount(count)}
      </button>
      <button type="button" onClick={choice.clear}>
        Choose none
      </button>
      {choice.error !== null && <Failure error={choice.error} />}
    </div>
  );
}
