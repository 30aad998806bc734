import { sql } from "#kysely";
import type { Database } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { statement } from "../../db/statement.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { findDamage } from "../backup/embedded.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("database");

interface Examined {
  checks: Check[];
  /** Whether this version's tables exist, so that other checks may read them. */
  isUsable: boolean;
}

/** `isLeftBehind`: the data directory contains an embedded installation although PostgreSQL is configured. */
export async function checkDatabase(db: Database, isLeftBehind: boolean): Promise<Examined> {
  try {
    await db.check();
    // As a start would, without changing anything: this also finds a pooler that cannot be used.
    if (db.dialect === "postgres") await db.migrate(async () => {});
  } catch (error) {
    const fix =
      db.dialect === "postgres"
        ? "Check UPSTOW_DATABASE_URL, and that PostgreSQL is running and accepts connections from this machine."
        : "Check the disk and the file's permissions, or restore the last backup.";
    return { checks: [failed(`It does not respond: ${(error as Error).message}.`, fix)], isUsable: false };
  }
  const engine = db.dialect === "sqlite" ? await checkSqlite(db) : await checkPostgres(db);
  const { check, isUsable } = await checkMigrations(db, isLeftBehind ? moveFirst : startOnce);
  return { checks: [...engine, check], isUsable };
}

const startOnce = "Start the service once with npm start.";
const moveFirst =
  "To move the installation in UPSTOW_DATA_DIR to it, run `upstow migrate database` before starting the service on it. Without UPSTOW_DATABASE_URL, this command checks that installation.";

async function checkMigrations(db: Database, fixEmpty: string): Promise<{ check: Check; isUsable: boolean }> {
  let pending: string[];
  try {
    pending = await listPendingMigrations(db);
  } catch (error) {
    const message = (error as Error).message;
    if (message.includes("newer version")) {
      return { check: failed(`${message}.`, "Update this copy of Upstow."), isUsable: false };
    }
    const check = warning("It has no tables yet.", fixEmpty);
    return { check, isUsable: false };
  }
  if (pending.length > 0) {
    const check = warning(`It lacks ${pending.join(", ")}.`, "Restart the service to update it.");
    return { check, isUsable: false };
  }
  if ((await db.get(findInstallation, {})) === null) {
    const check = warning("The service has never been started on it.", fixEmpty);
    return { check, isUsable: true };
  }
  return { check: ok("its tables match this version"), isUsable: true };
}

/** Migrations that a start would apply, from a dry run. Throws if a newer version was used. */
async function listPendingMigrations(db: Database): Promise<string[]> {
  const pending = new Set<string>();
  await migrate({
    ...db,
    migrate: (work) =>
      work({
        dialect: db.dialect,
        all: db.all,
        get: db.get,
        async script() {},
        async run(_statement, params) {
          if ("id" in params) pending.add(String(params.id));
          return 0;
        },
      }),
  });
  return [...pending];
}

const describeEngine = statement((q, _: object) =>
  q.selectNoFrom([
    sql<string>`sqlite_version()`.as("version"),
    sql<string>`(select journal_mode from pragma_journal_mode)`.as("journalMode"),
    sql<number>`(select synchronous from pragma_synchronous)`.as("synchronous"),
  ]),
);

/** Older ones can corrupt a database when its log starts over. */
const oldestSqlite = [3, 51, 3];
const full = 2;

async function checkSqlite(db: Database): Promise<Check[]> {
  const engine = await db.get(describeEngine, {});
  const checks: Check[] = [];
  if (engine === null || isOlder(engine.version)) {
    checks.push(
      failed(
        `SQLite ${engine?.version} can lose data; the oldest safe version is ${oldestSqlite.join(".")}.`,
        "Use the Node version that this repository installs: start with npm start.",
      ),
    );
  }
  if (engine?.journalMode !== "wal" || engine.synchronous < full) {
    checks.push(
      failed(
        "The disk does not allow write-ahead logging with full syncs, so a power failure can lose data.",
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
  for (const [i, least] of oldestSqlite.entries()) {
    const number = numbers[i] ?? 0;
    if (number !== least) return number < least;
  }
  return false;
}

const setting = (name: string) => sql<string>`current_setting(${sql.lit(name)})`;

// bounded: as many as there are connections
const describeServer = statement((q, _: object) =>
  q.selectNoFrom([
    setting("server_version").as("version"),
    setting("server_version_num").as("versionNumber"),
    setting("max_connections").as("maxConnections"),
    setting("server_encoding").as("encoding"),
    setting("fsync").as("fsync"),
    setting("full_page_writes").as("fullPageWrites"),
    setting("synchronous_commit").as("synchronousCommit"),
    sql<number>`(select cast(count(*) as bigint) from pg_stat_activity where backend_type = 'client backend')`.as(
      "used",
    ),
  ]),
);

const oldestPostgres = 140_000;
/** The connections that one instance may open. */
const poolSize = 20;

async function checkPostgres(db: Database): Promise<Check[]> {
  const server = await db.get(describeServer, {});
  if (server === null) return [failed("It does not report its version.", "Check UPSTOW_DATABASE_URL.")];
  const checks: Check[] = [];
  if (Number(server.versionNumber) < oldestPostgres) {
    checks.push(failed(`PostgreSQL ${server.version} is too old.`, "Upgrade to PostgreSQL 14 or later."));
  }
  if (server.encoding !== "UTF8") {
    checks.push(failed(`Its encoding is ${server.encoding}.`, "Create the database with ENCODING 'UTF8'."));
  }
  for (const [name, value] of [
    ["fsync", server.fsync],
    ["full_page_writes", server.fullPageWrites],
    ["synchronous_commit", server.synchronousCommit],
  ]) {
    if (value !== "off") continue;
    checks.push(failed(`${name} is off, so a crash can lose acknowledged data.`, `Set ${name} = on.`));
  }
  const most = Number(server.maxConnections);
  const connections = `${server.used} of ${most} connections in use`;
  if (most - server.used < poolSize) {
    checks.push(
      warning(`${connections}; an instance may need ${poolSize}.`, "Raise max_connections, or use a pooler."),
    );
  }
  return checks.length > 0 ? checks : [ok(`PostgreSQL ${server.version}, ${connections}`)];
}
