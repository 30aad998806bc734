import { sql } from "#kysely";
import { inSteps } from "../db/job-leases.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** The conditions are literals, to match those of the index. No other file has an empty name. */
const scrubOldest = statement((q, p: { before: number; take: number }) =>
  q
    .updateTable("file")
    .set({
      name: "",
      metadata: "{}",
      audience: null,
      image: null,
      focus: null,
      // The name is part of the key.
      key: sql`project_id || '/' || route_slug || '/' || id || '/'`,
    })
    .where(
      "id",
      "in",
      q
        .selectFrom("file")
        .select("id")
        .where(sql<boolean>`status = 'DELETED' and name <> ''`)
        .where("updated_at", "<", p.before)
        // What is in the trash can be restored.
        .where("purge_at", "is", null)
        .orderBy("updated_at")
        .limit(p.take),
    ),
);

/**
 * A deleted file's row stays, because what it counted and its id must not be used again. What people wrote goes once
 * the log entries about it are gone too.
 */
export async function scrubDeletedFiles(
  { db, now, config }: Pick<Deps, "db" | "now"> & { config: Pick<Deps["config"], "logRetentionDays"> },
  signal: AbortSignal,
): Promise<void> {
  const before = now() - config.logRetentionDays * dayMs;
  await inSteps((take) => db.run(scrubOldest, { before, take }), signal);
}
