import type { CompletedFile, FileListItem, FileObject } from "@upstow/contract";
import type { Config } from "../../config.ts";
import type { FileTable } from "../../db/schema.ts";
import { isoTime } from "../../iso-time.ts";
import { fileUrl } from "./file-url.ts";

export function toListItem(config: Config, row: FileTable): FileListItem {
  return {
    id: row.id,
    key: row.key,
    name: row.name,
    size: row.size_bytes,
    type: row.type,
    url: fileUrl(config, row.key),
    status: row.status,
    sha256: row.sha256,
    createdAt: isoTime(row.created_at),
  };
}

export function toCompletedFile(config: Config, row: FileTable): CompletedFile {
  return { ...toListItem(config, row), metadata: JSON.parse(row.metadata) };
}

export function toFile(config: Config, row: FileTable): FileObject {
  return { ...toCompletedFile(config, row), updatedAt: isoTime(row.updated_at) };
}
