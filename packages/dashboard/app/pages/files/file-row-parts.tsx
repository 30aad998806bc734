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
import { showHidden } from "../../parts/safe-text.tsx";
import { type FoundFile, placeholderOf } from "./found-file.ts";

const icons: [type: RegExp, icon: string][] = [
  [/^image\//, fileImageIcon],
  [/^video\//, filePlayIcon],
  [/^audio\//, fileMusicIcon],
  [/zip|tar|compressed|7z/, fileArchiveIcon],
  // Before code: the types of office documents contain "xml".
  [/pdf|document|msword|ms-excel|ms-powerpoint/, fileTextIcon],
  [/json|xml|html|javascript|css|yaml/, fileCodeIcon],
  [/^text\//, fileTextIcon],
];

/** A delay, because cached thumbnails appear immediately. */
const placeholderAfterMs = 50;

/** A small picture of an image; for everything else, or one that cannot be shown, an icon of its type. */
export function Thumbnail({ file, className }: { file: FoundFile; className: string }) {
  const [isBroken, setBroken] = useState(false);
  // Transparent thumbnails must not show the placeholder behind them.
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
        // Wait for decoding, or the row would be empty until it is painted. A replaced image never decodes.
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

const statusLabels: Record<string, string> = {
  UPLOADED: "Uploaded",
  UPLOADING: "Uploading",
  FAILED: "Failed",
  DELETED: "Deleted",
};

type State = Pick<FoundFile, "status" | "scan">;

const isScanning = ({ status, scan }: State) => status === "UPLOADED" && scan === "pending";

/** Whether a file is not simply there. */
export const isNotable = (file: State): boolean => file.status !== "UPLOADED" || isScanning(file);

export function statusOf(file: State): string {
  return isScanning(file) ? "Scanning" : (statusLabels[file.status] ?? file.status);
}

export function StatusTag(file: State) {
  const color = isScanning(file) ? "warn" : file.status.toLowerCase();
  return <span className={`tag ${color}`}>{statusOf(file)}</span>;
}

interface SelectBoxProps<File> {
  file: File;
  chosen: ReadonlySet<string>;
  onChoose: (files: File[], isChosen: boolean) => void;
}

export function SelectBox<File extends Pick<FoundFile, "id" | "name">>({
  file,
  chosen,
  onChoose,
}: SelectBoxProps<File>) {
  return (
    <label className="tick-area">
      <input
        type="checkbox"
        aria-label={`Select ${showHidden(file.name)}`}
        checked={chosen.has(file.id)}
        onChange={(event) => onChoose([file], event.target.checked)}
      />
    </label>
  );
}
