import type { Database } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { type Check, createChecks } from "./check.ts";
import { checkPostgres } from "./check-postgres.ts";
import { checkSqlite } from "./check-sqlite.ts";

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
        ? "Check UPSTOW_DATABASE_URL, and that PostgreSQL runs and lets this machine in."
        : "Check the disk and the file's permissions, or restore the last backup.";
    return { checks: [failed(`It does not answer: ${(error as Error).message}.`, fix)], isUsable: false };
  }
  const engine = db.dialect === "sqlite" ? await checkSqlite(db) : await checkPostgres(db);
  const { check, isUsable } = await checkMigrations(db, isLeftBehind ? moveFirst : startOnce);
  return { checks: [...engine, check], isUsable };
}

const startOnce = "Start the service once with npm start.";
const moveFirst =
  "Move the installation in UPSTOW_DATA_DIR to it with `upstow migrate database`, before the service is started on it. Without UPSTOW_DATABASE_URL this command looks at that one.";

async function checkMigrations(db: Database, fixEmpty: string): Promise<{ check: Check; isUsable: boolean }> {
  let pending: string[];
  try {
    pending = await listPendingMigrations(db);
  } catch (error) {
    const message = (error as Error).message;
    if (message.includes("newer version")) {
      return { check: failed(`${message}.`, "Update this copy of Upstow."), isUsable: false };
    }
    const check = warning("Its tables are not there yet.", fixEmpty);
    return { check, isUsable: false };
  }
  if (pending.length > 0) {
    const check = warning(
      `It lacks ${pending.join(", ")}.`,
      "Restart the service, which brings it up to date.",
    );
    return { check, isUsable: false };
  }
  if ((await db.get(findInstallation, {})) === null) {
    const check = warning("The service was never started on it.", fixEmpty);
    return { check, isUsable: true };
  }
  return { check: ok("its tables are those of this version"), isUsable: true };
}

/** What a start would change, found by a dry-run migration. Throws if a newer version was used. */
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
