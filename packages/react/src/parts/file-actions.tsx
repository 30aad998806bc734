import type { ReactNode } from "react";
import { actionProps, type ItemAction } from "../core/prop-getters.ts";
import { useLabels } from "../core/provider.tsx";
import type { UploadActions } from "../core/queue.ts";
import type { ItemStatus, UploadItem } from "../core/types.ts";
import { CloseIcon, PauseIcon, PlayIcon, RetryIcon } from "./icons.tsx";
import { findRoot, useHeirOfFocus } from "./use-heir-of-focus.ts";

const available: Record<ItemStatus, ItemAction[]> = {
  staged: ["remove"],
  rejected: ["remove"],
  queued: ["cancel"],
  preparing: ["cancel"],
  uploading: ["pause", "cancel"],
  completing: [],
  waiting: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  done: ["remove"],
  failed: ["retry", "remove"],
  cancelled: ["retry", "remove"],
};

const icons: Record<ItemAction, ReactNode> = {
  pause: <PauseIcon />,
  resume: <PlayIcon />,
  cancel: <CloseIcon />,
  retry: <RetryIcon />,
  remove: <CloseIcon />,
};

/** Buttons with the same slot replace each other and keep the focus. */
const places: Record<ItemAction, string> = {
  pause: "go",
  resume: "go",
  retry: "go",
  cancel: "stop",
  remove: "stop",
};

interface FileActionsProps {
  item: UploadItem;
  actions: UploadActions;
  /** Omits buttons for which there is no room. */
  only?: ItemAction[];
  className?: string | undefined;
}

/** The buttons that apply to a file's current state. */
export function FileActions({ item, actions, only, className = "us-actions" }: FileActionsProps) {
  const group = useHeirOfFocus(findNext);
  const shown = available[item.status].filter((action) => only?.includes(action) ?? true);
  return (
    <div ref={group} className={className} tabIndex={-1}>
      {shown.map((action) => (
        <ActionButton key={places[action]} item={item} actions={actions} action={action} />
      ))}
    </div>
  );
}

type ActionButtonProps = Pick<FileActionsProps, "item" | "actions"> & { action: ItemAction };

function ActionButton({ item, actions, action }: ActionButtonProps) {
  const button = useHeirOfFocus(findGroup);
  return (
    <button ref={button} {...actionProps(actions, useLabels(), action, item)} className="us-icon-button">
      {icons[action]}
    </button>
  );
}

/** Not the neighbouring button: pressing Enter again must not trigger a different action. */
const findGroup = (button: HTMLButtonElement) => button.parentElement;

/** The next file's first button, the choose button, or the previous file's last button. */
function findNext(group: HTMLDivElement): HTMLElement | null {
  const root = group.closest(".us-ui");
  const find = (selector: string) => [...(root?.querySelectorAll<HTMLElement>(selector) ?? [])];
  const others = find("[data-action]").filter((button) => !group.contains(button));
  const isAfter = (button: Element) =>
    group.compareDocumentPosition(button) === Node.DOCUMENT_POSITION_FOLLOWING;
  return others.find(isAfter) ?? find("[data-us-choose]")[0] ?? others.at(-1) ?? findRoot(group);
}
