import { memo } from "react";
import { useLabels } from "../core/provider.tsx";
import type { UploadActions } from "../core/queue.ts";
import { isUnderWay } from "../core/summarize.ts";
import type { UploadItem } from "../core/types.ts";
import { type ClassNames, cx } from "./class-names.ts";
import { FileActions } from "./file-actions.tsx";
import { FileMeta } from "./file-meta.tsx";
import { FileName } from "./file-name.tsx";
import { Thumb } from "./thumb.tsx";
import { Track } from "./track.tsx";

interface RowProps {
  item: UploadItem;
  actions: UploadActions;
  className?: string | undefined;
}

const FileRow = memo(function FileRow({ item, actions, className }: RowProps) {
  return (
    <li className={cx("us-row", className)} data-status={item.status}>
      <Thumb item={item} />
      <div className="us-row-main">
        <FileName name={item.file.name} />
        <FileMeta item={item} />
        {(isUnderWay(item) || item.status === "paused") && <Track item={item} />}
      </div>
      <FileActions item={item} actions={actions} />
    </li>
  );
});

interface FileRowsProps {
  items: readonly UploadItem[];
  actions: UploadActions;
  classNames?: ClassNames<"list" | "item"> | undefined;
}

/** A row per file; nothing if there are none. */
export function FileRows({ items, actions, classNames }: FileRowsProps) {
  const labels = useLabels();
  if (items.length === 0) return null;
  return (
    <ul className={cx("us-rows", classNames?.list)} aria-label={labels.files}>
      {items.map((item) => (
        <FileRow key={item.id} item={item} actions={actions} className={classNames?.item} />
      ))}
    </ul>
  );
}
