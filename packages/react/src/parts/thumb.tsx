import { variantUrl } from "@upstow/sdk/images";
import { useState } from "react";
import type { UploadItem } from "../core/types.ts";
import { cx } from "./class-names.ts";

interface ThumbProps {
  item: Pick<UploadItem, "previewUrl"> & {
    file: Pick<File, "name" | "type">;
    uploaded?: { url: string; type: string } | null;
  };
  className?: string | undefined;
}

/** Among the widths that projects list. Enough for a tile on a dense screen. */
const thumbnailPx = 384;

/**
 * The image itself, the first frame of a video, or the file extension. For an image that this browser cannot show, such
 * as HEIC, the service's thumbnail once it is uploaded.
 */
export function Thumb({ item, className }: ThumbProps) {
  const { file, previewUrl, uploaded } = item;
  const [failures, setFailures] = useState(0);
  const stored = uploaded?.type.startsWith("image/") && variantUrl(uploaded.url, { width: thumbnailPx });
  const src = [previewUrl, stored].filter(Boolean)[failures];
  const names = cx("us-thumb", className);
  if (src) {
    return file.type.startsWith("video/") ? (
      <video className={names} src={src} muted playsInline preload="metadata" />
    ) : (
      <img
        className={names}
        src={src}
        alt=""
        loading="lazy"
        decoding="async"
        draggable={false}
        onError={() => setFailures(failures + 1)}
      />
    );
  }
  const ending = /\.([^.]{1,5})$/.exec(file.name)?.[1] ?? "file";
  return (
    <span className={names} aria-hidden="true">
      {ending}
    </span>
  );
}
