import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { inSteps } from "../../db/job-leases.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { firstIdAt } from "../../kernel/ids.ts";

const dayMs = 24 * 60 * 60 * 1000;

interface LogOwner {
  projectId: string;
  environment: Environment | "";
}

/** The next project and environment with entries, in the order of the primary key. */
const findNextOwner = statement((q, p: LogOwner) =>
  q
    .selectFrom("log")
    .select(["project_id as projectId", "environment"])
    .where(sql<boolean>`(project_id, environment) > (${p.projectId}, ${p.environment})`)
    .orderBy("project_id")
    .orderBy("environment")
    .limit(1),
);

const deleteOldest = statement((q, p: LogOwner & { before: string; take: number }) =>
  q
    .deleteFrom("log")
    .where("project_id", "=", p.projectId)
    .where(sql<boolean>`environment = ${p.environment}`)
    .where(
      "id",
      "in",
      q
        .selectFrom("log")
        .select("id")
        .where("project_id", "=", p.projectId)
        .where(sql<boolean>`environment = ${p.environment}`)
        .where("id", "<", p.before)
        .orderBy("id")
        .limit(p.take),
    ),
);

/** Log entries are most of a database's rows. By the month, they go without a trace in the others. */
export async function divideLogs({ db, now }: Pick<Deps, "db" | "now">): Promise<void> {
  await db.keepPartitions?.("log", ["project_id", "environment", "id"], now());
}

/**
 * Deletes log entries past their retention. Goes through the projects one by one: the primary key starts with them, and
 * an index by age would slow every upload.
 */
export async function forgetOldLogs(
  deps: Pick<Deps, "db" | "now"> & { config: Pick<Deps["config"], "logRetentionDays"> },
  signal: AbortSignal,
): Promise<void> {
  const before = firstIdAt(deps.now() - deps.config.logRetentionDays * dayMs);
  if (!signal.aborted) await deps.db.dropPartitions?.("log", before);
  let owner: LogOwner | null = { projectId: "", environment: "" };
  while (!signal.aborted) {
    owner = await deps.db.get(findNextOwner, owner);
    if (owner === null) return;
    const { projectId, environment } = owner;
    await inSteps((take) => deps.db.run(deleteOldest, { projectId, environment, before, take }), signal);
  }
}
