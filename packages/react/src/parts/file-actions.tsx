import type { ReactNode } from "react";
import { actionProps, type ItemAction } from "../core/prop-getters.ts";
import { useLabels } from "../core/provider.tsx";
import type { UploadActions } from "../core/queue.ts";
import type { ItemStatus, UploadItem } from "../core/types.ts";
import { CloseIcon, PauseIcon, PlayIcon, RetryIcon } from "./icons.tsx";

const available: Record<ItemStatus, ItemAction[]> = {
  staged: ["remove"],
  rejected: ["remove"],
  queued: ["cancel"],
  preparing: ["cancel"],
  uploading: ["pause", "cancel"],
  completing: [],
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

interface FileActionsProps {
  item: UploadItem;
  actions: UploadActions;
  /** Leaves out what there is no room for. */
  only?: ItemAction[];
  className?: string | undefined;
}

/** The buttons that make sense for a file as it is now. */
export function FileActions({ item, actions, only, className = "us-actions" }: FileActionsProps) {
  const labels = useLabels();
  const shown = available[item.status].filter((action) => only?.includes(action) ?? true);
  return (
    <div className={className}>
      {shown.map((action) => (
        <button key={action} {...actionProps(actions, labels, action, item)} className="us-icon-button">
          {icons[action]}
        </button>
      ))}
    </div>
  );
}
