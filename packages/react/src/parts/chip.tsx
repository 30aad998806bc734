import { memo } from "react";
import type { UploadActions } from "../core/queue.ts";
import { isUnderWay } from "../core/summarize.ts";
import type { UploadItem } from "../core/types.ts";
import { cx } from "./class-names.ts";
import { FileActions } from "./file-actions.tsx";
import { FileMeta } from "./file-meta.tsx";
import { FileName } from "./file-name.tsx";
import { Thumb } from "./thumb.tsx";
import { Track } from "./track.tsx";

interface ChipProps {
  item: UploadItem;
  actions: UploadActions;
  className?: string | undefined;
}

/** A compact view of a file. */
export const Chip = memo(function Chip({ item, actions, className }: ChipProps) {
  return (
    <li className={cx("us-chip", className)} data-status={item.status}>
      <Thumb item={item} />
      <div className="us-row-main">
        <FileName name={item.file.name} />
        <FileMeta item={item} />
        {isUnderWay(item) && <Track item={item} />}
      </div>
      <FileActions item={item} actions={actions} only={["cancel", "resume", "retry", "remove"]} />
    </li>
  );
});
