import type { FileListItem } from "@upstow/contract";
import { thumbHashToDataUrl } from "@upstow/sdk/images";
import type { CSSProperties } from "react";

/** A file as the dashboard's search returns it. */
export interface FoundFile extends FileListItem {
  /** The URL from which this page reads it, whatever domain the project has. Null if it is private. */
  contentUrl: string | null;
  /** Of an image that can be rendered, 320 pixels wide and high; null for everything else. */
  thumbnailUrl: string | null;
  /** A new image gets its thumbnail a moment after its upload. */
  isThumbnailDue: boolean;
  /** The ThumbHash of an image, in the thumbnail's place until that has loaded. */
  placeholder: string | null;
}

/** Painted behind a thumbnail. Small enough to be made for every row. */
export function placeholderOf({ placeholder }: Pick<FoundFile, "placeholder">): CSSProperties {
  const url = placeholder === null ? null : thumbHashToDataUrl(placeholder);
  return url === null ? {} : { backgroundImage: `url(${url})`, backgroundSize: "cover" };
}

/** Whatever ends a file first, and what is said of it; null if it stays. */
export function endOf({ expiresAt, claimBy }: Pick<FileListItem, "expiresAt" | "claimBy">) {
  if (claimBy !== null && (expiresAt === null || Date.parse(claimBy) < Date.parse(expiresAt)))
    return { at: claimBy, word: "Unclaimed, expires" };
  return expiresAt === null ? null : { at: expiresAt, word: "Expires" };
}

export function routeOf(file: Pick<FileListItem, "key">): string {
  return file.key.split("/")[1] ?? "";
}
