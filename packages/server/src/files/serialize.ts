import type { CompletedFile, FileListItem, FileObject } from "@upstow/contract";
import type { FileRow } from "../db/schema.ts";
import { isId } from "../kernel/ids.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { type Cdn, fileUrl } from "../projects/file-url.ts";
import { fileIdIn } from "../storage/storage-key.ts";
import type { ListedFile } from "./queries.ts";

export function toListItem(cdn: Cdn, row: ListedFile): FileListItem {
  return {
    id: row.id,
    key: row.key,
    name: row.name,
    size: row.size_bytes,
    type: row.type,
    url: fileUrl(cdn, row.key),
    status: row.status,
    access: row.access,
    ...(row.audience === null ? {} : { audience: row.audience }),
    sha256: row.sha256,
    createdAt: isoTime(row.created_at),
  };
}

export function toCompletedFile(cdn: Cdn, row: FileRow): CompletedFile {
  return { ...toListItem(cdn, row), metadata: JSON.parse(row.metadata) };
}

export function toFile(cdn: Cdn, row: FileRow): FileObject {
  return { ...toCompletedFile(cdn, row), updatedAt: isoTime(row.updated_at) };
}

/** How statements find a file by its key. */
export interface NamedFile {
  id: string;
  /** May be an id where callers can use either. */
  key: string;
}

/** A key contains its file's id, which is used to find the row; a second index on long keys would slow every upload. */
export function nameFile(key: string): NamedFile {
  return { id: isId(key) ? key : fileIdIn(key), key };
}
