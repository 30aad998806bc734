import type { CompletedFile, FileListItem, FileObject } from "@upstow/contract";
import type { FileTable } from "../db/schema.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { type Cdn, fileUrl } from "../projects/file-url.ts";
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
    sha256: row.sha256,
    createdAt: isoTime(row.created_at),
  };
}

export function toCompletedFile(cdn: Cdn, row: FileTable): CompletedFile {
  return { ...toListItem(cdn, row), metadata: JSON.parse(row.metadata) };
}

export function toFile(cdn: Cdn, row: FileTable): FileObject {
  return { ...toCompletedFile(cdn, row), updatedAt: isoTime(row.updated_at) };
}
