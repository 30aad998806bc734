import type { Environment, LogType } from "@upstow/contract";
import type { QueryCreator } from "#kysely";
import type { Queryable } from "../../db/database.ts";
import { insertTogether } from "../../db/insert-together.ts";
import type { LogRow, Schema } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { createId } from "../../kernel/ids.ts";

export const { insertOne: insertLog, insert: addLog } = insertTogether<LogRow>("log", {
  id: "text",
  project_id: "text",
  environment: "text",
  type: "text",
  file_id: "text",
  key: "text",
  message: "text",
  data: "text",
  created_at: "bigint",
});

interface LogStretch {
  projectId: string;
  environment: Environment;
  before: string;
  from: string;
}

interface ListLogs extends LogStretch {
  take: number;
}

export interface ListLogsOfType extends ListLogs {
  type: string;
}

/** The newest first. */
export const logsBetween = (q: QueryCreator<Schema>, p: LogStretch) =>
  q
    .selectFrom("log")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("id", "<", p.before)
    .where("id", ">=", p.from)
    .orderBy("id", "desc");

export const listLogs = statement((q, p: ListLogs) => logsBetween(q, p).selectAll().limit(p.take));

export const listLogsOfType = statement((q, p: ListLogsOfType) =>
  logsBetween(q, p).selectAll().where("type", "=", p.type).limit(p.take),
);

/** The last id of this many entries below an id; no row if fewer are left. */
export const findLogStretchEnd = statement((q, p: LogStretch & { skip: number }) =>
  logsBetween(q, p).select("id").limit(1).offset(p.skip),
);

interface LogEntry {
  projectId: string;
  environment: Environment;
  type: LogType;
  message: string;
  file?: { id: string; key: string };
  data?: object;
}

/** Part of the transaction that makes the logged change. */
export function writeLog(tx: Queryable, now: number, entry: LogEntry): Promise<unknown> {
  return addLog(tx, {
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
