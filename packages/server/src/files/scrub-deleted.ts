import { sql } from "#kysely";
import { inSteps } from "../db/job-leases.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";

const dayMs = 24 * 60 * 60 * 1000;

const emptied = {
  name: "",
  metadata: "{}",
  audience: null,
  image: null,
  focus: null,
  // The name is part of the key.
  key: sql<string>`project_id || '/' || route_slug || '/' || id || '/'`,
} as const;

/** The conditions are literals, to match those of the index. No other file has an empty name. */
const scrubOldest = statement((q, p: { before: number; take: number }) =>
  q
    .updateTable("file")
    .set(emptied)
    .where(
      "id",
      "in",
      q
        .selectFrom("file")
        .select("id")
        .where(sql<boolean>`status = 'DELETED' and name <> ''`)
        .where("updated_at", "<", p.before)
        // Files in the trash can be restored.
        .where("purge_at", "is", null)
        .orderBy("updated_at")
        .limit(p.take),
    ),
);

/** As if someone had deleted them: bytes and quota went when the upload failed. */
const deleteOldestFailed = statement((q, p: { before: number; take: number }) =>
  q
    .updateTable("file")
    .set({ ...emptied, status: "DELETED" })
    .where(sql<boolean>`status = 'FAILED'`)
    .where(
      "id",
      "in",
      q
        .selectFrom("file")
        .select("id")
        .where(sql<boolean>`status = 'FAILED'`)
        .where("updated_at", "<", p.before)
        .orderBy("updated_at")
        .limit(p.take),
    ),
);

/**
 * A deleted file's row stays, because its id and its counts must not be used again. Text that people wrote is removed
 * once the log entries about the file are gone too. A failed upload is listed with its name until then, and deleted after that.
 */
export async function scrubDeletedFiles(
  { db, now, config }: Pick<Deps, "db" | "now"> & { config: Pick<Deps["config"], "logRetentionDays"> },
  signal: AbortSignal,
): Promise<void> {
  const before = now() - config.logRetentionDays * dayMs;
  await inSteps((take) => db.run(scrubOldest, { before, take }), signal);
  await inSteps((take) => db.run(deleteOldestFailed, { before, take }), signal);
}
