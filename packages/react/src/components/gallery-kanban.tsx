"use client";

import { type DragEvent, useState } from "react";
import { useLabels } from "../core/provider.tsx";
import { isUnderWay } from "../core/summarize.ts";
import type { ItemStatus, UploadItem } from "../core/types.ts";
import { type Upload, type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { FileName } from "../parts/file-name.tsx";
import { FleetingButton } from "../parts/fleeting-button.tsx";
import { PlayIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { Track } from "../parts/track.tsx";

export type GalleryKanbanProps = UploadProps & {
  words?: { waiting?: string; underWay?: string; done?: string; stopped?: string };
  classNames?: ClassNames<"root" | "column" | "card" | "button">;
};

const columns = ["waiting", "underWay", "done", "stopped"] as const;
type Column = (typeof columns)[number];

const columnOf: Record<ItemStatus, Column> = {
  staged: "waiting",
  paused: "waiting",
  queued: "underWay",
  preparing: "underWay",
  uploading: "underWay",
  completing: "underWay",
  waiting: "underWay",
  done: "done",
  failed: "stopped",
  rejected: "stopped",
  cancelled: "stopped",
};

/** A board of files: drag a card to In progress to start or retry it, back to waiting to pause it. */
export function GalleryKanban({ words, classNames, ...props }: GalleryKanbanProps) {
  const upload = useGivenUpload(props, { autoStart: false });
  const labels = useLabels();
  const isView = props.upload !== undefined;
  const [carried, setCarried] = useState<UploadItem | null>(null);
  const titles = { waiting: "Waiting", underWay: "In progress", done: "Done", stopped: "Stopped", ...words };
  const waiting = upload.items.filter(({ status }) => status === "staged");

  const onDragOver = (event: DragEvent, column: Column) => {
    if (carried !== null && findMove(upload, carried, column) !== null) event.preventDefault();
  };
  const onDrop = (event: DragEvent, column: Column) => {
    if (carried === null) return;
    event.preventDefault();
    findMove(upload, carried, column)?.();
  };
  return (
    <Root upload={upload} isView={isView} className={cx("us-kanban", classNames?.root)}>
      <div className="us-kanban-head">
        {isView || <ChooseButton upload={upload} className={classNames?.button} />}
        {waiting.length > 0 && (
          <FleetingButton className="us-button" data-quiet="" onClick={() => upload.start()}>
            <PlayIcon />
            {labels.start} ({waiting.length})
          </FleetingButton>
        )}
      </div>
      <div className="us-kanban-board">
        {columns.map((column) => {
          const items = upload.items.filter(({ status }) => columnOf[status] === column);
          return (
            <section
              key={column}
              className={cx("us-kanban-column", classNames?.column)}
              aria-label={titles[column]}
              data-column={column}
              onDragOver={(event) => onDragOver(event, column)}
              onDrop={(event) => onDrop(event, column)}
            >
              <h3 className="us-kanban-title">
                {titles[column]} <span className="us-badge">{items.length}</span>
              </h3>
              <ul className="us-kanban-cards">
                {items.map((item) => (
                  <li
                    key={item.id}
                    className={cx("us-kanban-card", classNames?.card)}
                    data-status={item.status}
                    draggable
                    onDragStart={() => setCarried(item)}
                    onDragEnd={() => setCarried(null)}
                  >
                    <Thumb item={item} />
                    <div className="us-row-main">
                      <FileName name={item.file.name} />
                      <FileMeta item={item} />
                    </div>
                    {isUnderWay(item) && <Track item={item} />}
                    <div className="us-kanban-controls">
                      {item.status === "staged" && (
                        <FleetingButton
                          className="us-icon-button us-kanban-start"
                          aria-label={`${labels.start} ${item.file.name}`}
                          onClick={() => upload.start(item.id)}
                        >
                          <PlayIcon />
                        </FleetingButton>
                      )}
                      <FileActions item={item} actions={upload.actions} />
                    </div>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </Root>
  );
}

/** What dropping a card on a column does; null if nothing. */
function findMove(upload: Upload, { id, status }: UploadItem, to: Column): (() => void) | null {
  if (to === "waiting") return status === "uploading" || status === "waiting" ? () => upload.pause(id) : null;
  if (to === "stopped") return columnOf[status] === "underWay" ? () => upload.cancel(id) : null;
  if (to !== "underWay") return null;
  if (status === "staged") return () => upload.start(id);
  if (status === "paused") return () => upload.resume(id);
  return status === "failed" || status === "cancelled" ? () => upload.retry(id) : null;
}
