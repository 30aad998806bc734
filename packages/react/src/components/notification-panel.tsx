"use client";

import { useEffect, useId, useState } from "react";
import type { Labels } from "../core/labels.ts";
import { progressProps } from "../core/prop-getters.ts";
import { useLabels } from "../core/provider.tsx";
import { isUnderWay } from "../core/summarize.ts";
import type { UploadItem, UploadList } from "../core/types.ts";
import { useAllUploads } from "../core/use-all-uploads.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { FleetingButton } from "../parts/fleeting-button.tsx";
import { CloseIcon, DownIcon, UpIcon } from "../parts/icons.tsx";

export interface NotificationPanelProps {
  /** Asks for confirmation before the page is left during an upload. Default: true. */
  warnsBeforeLeaving?: boolean;
  words?: { title?: string; fold?: string; unfold?: string };
  classNames?: ClassNames<"root" | "head" | "list" | "item">;
}

/** Floats in a corner and shows all of the provider's uploads, whichever component started them. */
export function NotificationPanel({
  warnsBeforeLeaving = true,
  words = {},
  classNames,
}: NotificationPanelProps) {
  const all = useAllUploads();
  const labels = useLabels();
  const listId = useId();
  const [isOpen, setIsOpen] = useState(true);
  const { items, actions } = all;
  const isBusy = all.status === "uploading";

  useEffect(() => {
    if (!isBusy || !warnsBeforeLeaving) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isBusy, warnsBeforeLeaving]);

  const summary = items.length === 0 ? "" : describeAll(all, labels);
  return (
    <aside className={cx("us-ui us-panel", classNames?.root)} aria-label={words.title ?? "Uploads"}>
      <span className="us-sr" role="status">
        {summary}
      </span>
      {items.length > 0 && (
        <div className="us-panel-card" data-state={all.status}>
          <header className={cx("us-panel-head", classNames?.head)}>
            <span className="us-title">{summary}</span>
            <button
              type="button"
              className="us-icon-button"
              aria-label={isOpen ? (words.fold ?? "Fold") : (words.unfold ?? "Unfold")}
              aria-expanded={isOpen}
              aria-controls={listId}
              onClick={() => setIsOpen(!isOpen)}
            >
              {isOpen ? <DownIcon /> : <UpIcon />}
            </button>
            {isBusy || (
              <FleetingButton
                className="us-icon-button"
                aria-label={labels.close}
                onClick={() => actions.clear()}
              >
                <CloseIcon />
              </FleetingButton>
            )}
          </header>
          {isBusy && (
            <div {...progressProps(all, labels.total)} className="us-track us-panel-track">
              <div className="us-track-fill" />
            </div>
          )}
          <div id={listId} className="us-panel-list" hidden={!isOpen}>
            <FileRows items={items} actions={actions} classNames={classNames} />
          </div>
        </div>
      )}
    </aside>
  );
}

/** The combined state of all files, and their number. */
function describeAll({ items, status, waitSeconds }: UploadList, labels: Labels): string {
  if (items.every((item) => item.status === "done")) return labels.allDone(items.length);
  // Idle with files in the list means that all were cancelled.
  const shown = status === "idle" ? "cancelled" : status;
  const isShown = (item: UploadItem) => (shown === "uploading" ? isUnderWay(item) : item.status === shown);
  // Omits the seconds, because screen readers announce every change.
  const said = waitSeconds === null ? shown : "waiting";
  return `${labels.status[said]} ${items.filter(isShown).length}`;
}
