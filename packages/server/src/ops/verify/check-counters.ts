import { sql } from "#kysely";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { type CounterScope, hasFewerFiles, measureDrift, removeDrift } from "../../projects/usage/recount.ts";
import type { OnFinding } from "./check-files.ts";

const pageSize = 20;

const listScopes = statement((q, p: CounterPlace & { take: number }) =>
  q
    .selectFrom("usage_total")
    .select(["project_id as projectId", "environment"])
    .where(
      sql<boolean>`(project_id, environment) > (cast(${p.projectId} as text), cast(${p.environment} as text))`,
    )
    .orderBy("project_id")
    .orderBy("environment")
    .limit(p.take),
);

interface CounterPlace {
  projectId: string;
  environment: string;
}

export interface CountersPage {
  checked: number;
  wrong: number;
  next: string | null;
}

interface CheckCounters {
  fix: boolean;
  /** Leaves out what would take long to count. */
  mostFiles: number;
  onFinding: OnFinding;
  signal: AbortSignal;
}

/** Recounts the next projects' files. */
export async function checkCounters(
  { db, now }: Pick<Deps, "db" | "now">,
  after: string,
  { fix, mostFiles, onFinding, signal }: CheckCounters,
): Promise<CountersPage> {
  const [afterProject = "", afterEnvironment = ""] = after.split("/");
  const from = { projectId: afterProject, environment: afterEnvironment };
  const scopes: CounterScope[] = await db.all(listScopes, { ...from, take: pageSize });
  const last = scopes.at(-1);
  const page: CountersPage = {
    checked: 0,
    wrong: 0,
    next: last === undefined || scopes.length < pageSize ? null : `${last.projectId}/${last.environment}`,
  };
  for (const scope of scopes) {
    signal.throwIfAborted();
    if (Number.isFinite(mostFiles) && !(await hasFewerFiles(db, scope, mostFiles))) continue;
    page.checked++;
    const drift = await measureDrift(db, scope);
    if (drift === null) continue;
    page.wrong++;
    onFinding({ kind: "wrong-counter", ...scope, ...drift });
    if (fix) await removeDrift(db, now(), scope, drift);
  }
  return page;
}
