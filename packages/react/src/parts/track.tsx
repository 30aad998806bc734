import { progressProps } from "../core/prop-getters.ts";
import type { UploadItem } from "../core/types.ts";

/** A bar for one file. */
export function Track({ item }: { item: UploadItem }) {
  return (
    <div {...progressProps(item, item.file.name)} className="us-track">
      <div className="us-track-fill" />
    </div>
  );
}
