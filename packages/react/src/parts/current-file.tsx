import type { ItemStatus, UploadItem } from "../core/types.ts";
import type { Upload } from "../core/use-upload.ts";
import { cx } from "./class-names.ts";
import { FileActions } from "./file-actions.tsx";
import { FileMeta } from "./file-meta.tsx";
import { FileName } from "./file-name.tsx";

const interest: ItemStatus[] = [
  "failed",
  "rejected",
  "uploading",
  "waiting",
  "completing",
  "preparing",
  "paused",
  "queued",
  "staged",
  "cancelled",
  "done",
];

/** The file that needs attention most; null if there is none. */
export function findCurrent(items: readonly UploadItem[]): UploadItem | null {
  const rank = (item: UploadItem) => interest.indexOf(item.status);
  return items.reduce<UploadItem | null>(
    (best, item) => (best === null || rank(item) < rank(best) ? item : best),
    null,
  );
}

/** One line for all files: the one that needs attention most, and the number of others. */
export function CurrentFile({ upload, className }: { upload: Upload; className?: string | undefined }) {
  const item = findCurrent(upload.items);
  if (item === null) return null;
  const others = upload.items.length - 1;
  return (
    <div className={cx("us-current", className)} data-status={item.status} data-us-control="">
      <div className="us-row-main">
        <FileName name={item.file.name} />
        <FileMeta item={item} />
      </div>
      {others > 0 && <span className="us-badge">+{others}</span>}
      <FileActions item={item} actions={upload.actions} />
    </div>
  );
}
