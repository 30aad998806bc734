import type { Upload } from "../core/use-upload.ts";
import { cx } from "./class-names.ts";

/** A bar for all files together. */
export function TotalTrack({ upload, className }: { upload: Upload; className?: string | undefined }) {
  return (
    <div {...upload.getProgressProps()} className={cx("us-track", className)}>
      <div className="us-track-fill" />
    </div>
  );
}
