import { Icon } from "@upstow/kit/icon";
import {
  fileArchiveIcon,
  fileCodeIcon,
  fileIcon,
  fileImageIcon,
  fileMusicIcon,
  filePlayIcon,
  fileTextIcon,
} from "@upstow/kit/icons";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { type FoundFile, placeholderOf } from "./found-file.ts";

const icons: [type: RegExp, icon: string][] = [
  [/^image\//, fileImageIcon],
  [/^video\//, filePlayIcon],
  [/^audio\//, fileMusicIcon],
  [/zip|tar|compressed|7z/, fileArchiveIcon],
  [/json|xml|html|javascript|css|yaml/, fileCodeIcon],
  [/^text\/|pdf|document/, fileTextIcon],
];

/** Sooner, it would not be seen: thumbnails that were shown before come at once. */
const placeholderAfterMs = 50;

/** A small picture of an image; for everything else, or one that cannot be shown, an icon of its type. */
export function Thumbnail({ file, className }: { file: FoundFile; className: string }) {
  const [isBroken, setBroken] = useState(false);
  // What shows through a thumbnail must not stay behind it.
  const [hasLoaded, setLoaded] = useState(false);
  const image = useRef<HTMLImageElement>(null);
  const [style, setStyle] = useState<CSSProperties>();
  // Not while the rows are drawn: decoding the placeholders of a screen takes longer than drawing it.
  useEffect(() => {
    const waiting = setTimeout(() => {
      if (image.current?.complete === false) setStyle(placeholderOf(file));
    }, placeholderAfterMs);
    return () => clearTimeout(waiting);
  }, [file]);
  if (file.thumbnailUrl !== null && !isBroken)
    return (
      <img
        ref={image}
        className={className}
        src={file.thumbnailUrl}
        alt=""
        loading="lazy"
        style={hasLoaded ? undefined : style}
        // Loaded is not yet painted: until then the row would be empty. What is replaced meanwhile never decodes.
        onLoad={({ currentTarget }) =>
          currentTarget.decode().then(
            () => setLoaded(true),
            () => {},
          )
        }
        onError={() => setBroken(true)}
      />
    );
  const icon = icons.find(([type]) => type.test(file.type))?.[1] ?? fileIcon;
  return (
    <span className={className}>
      <Icon of={icon} />
    </span>
  );
}

export const statusLabels: Record<string, string> = {
  UPLOADED: "Uploaded",
  UPLOADING: "Uploading",
  FAILED: "Failed",
  DELETED: "Deleted",
};

export function StatusTag({ status, scan }: Pick<FoundFile, "status" | "scan">) {
  if (status === "UPLOADED" && scan === "pending") return <span className="tag warn">Scanning</span>;
  return <span className={`tag ${status.toLowerCase()}`}>{statusLabels[status]}</span>;
}
