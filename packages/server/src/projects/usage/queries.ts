import type { Environment } from "@upstow/contract";
import { statement } from "../../db/statement.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

export const findUsageTotal = statement((q, p: Scope) =>
  q
    .selectFrom("usage_total")
    .select(["stored_bytes", "reserved_bytes"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

export const findUsagePeriod = statement((q, p: Scope & { period: string }) =>
  q
    .selectFrom("usage_period")
    .select(["uploads", "reserved_uploads"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period),
);

/** The newest record up to a period and all before it, enough to carry a month without changes forward. */
// bounded: one row per month
export const listUsagePeriods = statement((q, p: Scope & { until: string }) =>
  q
    .selectFrom("usage_period")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "<=", p.until)
    .orderBy("period", "desc"),
);
