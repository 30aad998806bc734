import type { UploadItem } from "../core/types.ts";
import { cx } from "./class-names.ts";

interface ThumbProps {
  item: Pick<UploadItem, "previewUrl"> & { file: Pick<File, "name" | "type"> };
  className?: string | undefined;
}

/** The image itself, the first frame of a video, or the file extension. */
export function Thumb({ item, className }: ThumbProps) {
  const { file, previewUrl } = item;
  const names = cx("us-thumb", className);
  if (previewUrl !== null && file.type.startsWith("image/")) {
    return (
      <img className={names} src={previewUrl} alt="" loading="lazy" decoding="async" draggable={false} />
    );
  }
  if (previewUrl !== null) {
    return <video className={names} src={previewUrl} muted playsInline preload="metadata" />;
  }
  const ending = /\.([^.]{1,5})$/.exec(file.name)?.[1] ?? "file";
  return (
    <span className={names} aria-hidden="true">
      {ending}
    </span>
  );
}
