import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { statement } from "../../../db/statement.ts";
import { hasText } from "./log-search-queries.ts";

export interface LogsFrom {
  projectId: string;
  environment: Environment;
  /** Empty for any. */
  type: string;
  /** What to look for in each, as `like` reads it. */
  pattern: string;
  from: string;
  take: number;
}

export const listLogsFrom = statement((q, p: LogsFrom, dialect) =>
  q
    .selectFrom("log")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("id", ">=", p.from)
    .where(sql<boolean>`(cast(${p.type} as text) = '' or type = ${p.type})`)
    .where(hasText(dialect, p.pattern))
    .orderBy("id")
    .limit(p.take),
);
