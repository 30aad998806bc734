import type { Environment, LogType } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import { createId } from "../../kernel/ids.ts";
import { insertLog } from "./queries.ts";

export interface LogEntry {
  projectId: string;
  environment: Environment;
  type: LogType;
  message: string;
  file?: { id: string; key: string };
  data?: object;
}

/** Part of the transaction that does what it tells of. */
export async function writeLog(tx: Queryable, now: number, entry: LogEntry): Promise<void> {
  await tx.run(insertLog, {
    id: createId(now),
    project_id: entry.projectId,
    environment: entry.environment,
    type: entry.type,
    file_id: entry.file?.id ?? null,
    key: entry.file?.key ?? null,
    message: entry.message,
    data: JSON.stringify(entry.data ?? {}),
    created_at: now,
  });
}
