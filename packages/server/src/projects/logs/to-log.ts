import type { Log } from "@upstow/contract";
import type { LogTable } from "../../db/schema.ts";
import { isoTime } from "../../kernel/iso-time.ts";

export function toLog(row: LogTable): Log {
  return {
    id: row.id,
    type: row.type,
    ...(row.file_id === null ? {} : { fileId: row.file_id }),
    ...(row.key === null ? {} : { key: row.key }),
    message: row.message,
    data: JSON.parse(row.data),
    createdAt: isoTime(row.created_at),
  };
}
