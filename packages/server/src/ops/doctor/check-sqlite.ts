import { sql } from "#kysely";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { findDamage } from "../backup/embedded.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, failed } = createChecks("database");

const describeEngine = statement((q, _: object) =>
  q.selectNoFrom([
    sql<string>`sqlite_version()`.as("version"),
    sql<string>`(select journal_mode from pragma_journal_mode)`.as("journalMode"),
    sql<number>`(select synchronous from pragma_synchronous)`.as("synchronous"),
  ]),
);

/** Older ones can corrupt a database when its log starts over. */
const oldestVersion = [3, 51, 3];
const full = 2;

export async function checkSqlite(db: Database): Promise<Check[]> {
  const engine = await db.get(describeEngine, {});
  const checks: Check[] = [];
  if (engine === null || isOlder(engine.version)) {
    checks.push(
      failed(
        `SQLite ${engine?.version} can lose data; ${oldestVersion.join(".")} is the oldest that is safe.`,
        "Run on the Node that this repository installs: start with npm start.",
      ),
    );
  }
  if (engine?.journalMode !== "wal" || engine.synchronous < full) {
    checks.push(
      failed(
        "The disk does not allow write-ahead logging with full syncs, so a power cut can lose data.",
        "Keep the data directory on a local disk, not on a network share.",
      ),
    );
  }
  const damage = await findDamage(db);
  if (damage !== null) {
    checks.push(failed(`It is damaged: ${damage}.`, "Stop the service and restore the last backup."));
  }
  return checks.length > 0 ? checks : [ok(`SQLite ${engine?.version}, every commit synced, file undamaged`)];
}

function isOlder(version: string): boolean {
  const numbers = version.split(".").map(Number);
  for (const [i, least] of oldestVersion.entries()) {
    const number = numbers[i] ?? 0;
    if (number !== least) return number < least;
  }
  return false;
}
