import type { Environment } from "@upstow/contract";
import type { QueryCreator } from "#kysely";
import type { LogTable, Schema } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

export const insertLog = statement((q, p: LogTable) =>
  q.insertInto("log").values({
    id: p.id,
    project_id: p.project_id,
    environment: p.environment,
    type: p.type,
    file_id: p.file_id,
    key: p.key,
    message: p.message,
    data: p.data,
    created_at: p.created_at,
  }),
);

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

/** Where the stretch of so many entries below an id ends; no row where fewer are left. */
export const findLogStretchEnd = statement((q, p: LogStretch & { skip: number }) =>
  logsBetween(q, p).select("id").limit(1).offset(p.skip),
);
