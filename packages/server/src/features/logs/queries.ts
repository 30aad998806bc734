import type { Environment } from "@upstow/contract";
import type { LogTable } from "../../db/schema.ts";
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

interface ListLogs {
  projectId: string;
  environment: Environment;
  before: string;
  from: string;
  take: number;
}

export const listLogs = statement((q, p: ListLogs) =>
  q
    .selectFrom("log")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("id", "<", p.before)
    .where("id", ">=", p.from)
    .orderBy("id", "desc")
    .limit(p.take),
);

export const listLogsOfType = statement((q, p: ListLogs & { type: string }) =>
  q
    .selectFrom("log")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("type", "=", p.type)
    .where("id", "<", p.before)
    .where("id", ">=", p.from)
    .orderBy("id", "desc")
    .limit(p.take),
);
