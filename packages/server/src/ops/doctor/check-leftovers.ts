import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning } = createChecks("leftovers");

const hourMs = 3_600_000;
const largeLogBytes = 512 * 1024 * 1024;

// bounded: once per operator command
const countOverdue = statement((q, p: { before: number }) =>
  q
    .selectFrom("storage_deletion")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("run_at", "<", p.before),
);

/** Leftovers that a healthy service cleans up by itself, so they indicate a problem if they stay. */
export async function checkLeftovers(db: Database, dataDir: string, now: number): Promise<Check[]> {
  const checks: Check[] = [];
  const overdue = (await db.get(countOverdue, { before: now - hourMs }))?.count ?? 0;
  if (overdue > 0) {
    checks.push(
      warning(
        `${overdue} deleted objects still wait to be removed from storage.`,
        "Start the service and read its log.",
      ),
    );
  }
  const abandoned = await countOldFiles(join(dataDir, "objects", "tmp"), now - 48 * hourMs);
  if (abandoned > 0) {
    checks.push(
      warning(
        `${abandoned} unfinished uploads were never swept.`,
        "Start the service; it sweeps every hour.",
      ),
    );
  }
  const log = await stat(join(dataDir, "upstow.db-wal")).catch(() => null);
  if (log !== null && log.size > largeLogBytes) {
    checks.push(
      warning(
        "The database's log has grown large.",
        "Look for a program that keeps the database open, and end it.",
      ),
    );
  }
  return checks.length > 0 ? checks : [ok("nothing is left over")];
}

async function countOldFiles(directory: string, before: number): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const files = await Promise.all(names.map((name) => stat(join(directory, name)).catch(() => null)));
  return files.filter((file) => file !== null && file.mtimeMs < before).length;
}
