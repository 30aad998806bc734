import type { FileListItem } from "@upstow/contract";

/** A file as the dashboard's search answers it. */
export interface FoundFile extends FileListItem {
  /** Where this page reads it, whatever domain the project has. Null if it is private. */
  contentUrl: string | null;
  /** Of an image, 320 pixels wide and high; null for everything else. */
  thumbnailUrl: string | null;
}

export function routeOf(file: Pick<FileListItem, "key">): string {
  return file.key.split("/")[1] ?? "";
}
