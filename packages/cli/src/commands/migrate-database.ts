import { join } from "node:path";
import type { Config } from "@upstow/server/config";
import type { MoveDatabaseReport } from "@upstow/server/ops/relocation/database/move-database";
import type { Command, Result } from "../command.ts";
import { bucketSettings, databaseSettings, describeRestart } from "../migrate/settings.ts";

export const migrateDatabase: Command = {
  name: "migrate database",
  summary: "Move the embedded database of a running installation to PostgreSQL",
  options: {
    abort: { description: "give the move up; the service takes changes again" },
  },
  notes: `Takes the database from UPSTOW_DATABASE_URL, given to this command and not yet to the service; it must be
empty. The service is read-only from the beginning until it is restarted on PostgreSQL. All rows of both databases are
compared at the end. Killed or cut off, it goes on where it stopped when run again. To move the files as well, run
\`upstow migrate storage --finish\` first.`,
  async run(call) {
    const { runAbandonDatabase, runMoveDatabase } = await import("../migrate/move-database.ts");
    if (call.options.has("abort")) {
      const { isWritable, isMarked } = await runAbandonDatabase(call);
      const now = isWritable
        ? "the embedded database takes changes again."
        : "the service stays read-only for the move of the files, which `upstow migrate storage --abort` gives up.";
      const copy = isMarked
        ? "What was copied is of no use any more, and no service starts on it."
        : "What was copied is of no use any more, but could not be marked so, as UPSTOW_DATABASE_URL does not name it: never start the service on it.";
      return { json: { state: "abandoned", isMarked }, text: `The move is given up: ${now} ${copy}` };
    }
    return present(await runMoveDatabase(call), call.config(), call.env);
  },
};

function present(report: MoveDatabaseReport, config: Config, env: NodeJS.ProcessEnv): Result {
  const rows = report.tables.reduce((sum, table) => sum + table.rows, 0);
  const settings = {
    ...databaseSettings(config.databaseUrl ?? ""),
    ...(report.isInBucket ? bucketSettings(env) : {}),
  };
  const lines = [
    `${rows} rows of ${report.tables.length} tables are in ${report.target}, and the same as in the embedded database.`,
    `Left out: ${report.leftOut.map(({ table, reason }) => `${table} (${reason})`).join(", ")}.`,
    "",
    "The service is read-only until it is restarted on PostgreSQL.",
    describeRestart(settings),
    ...describeSecret(config),
  ];
  return { json: { state: "copied", rows, ...report, set: settings }, text: lines.join("\n") };
}

function describeSecret({ secrets, dataDir }: Config): string[] {
  if (secrets !== null) return ["UPSTOW_SECRET stays as it is."];
  const path = join(dataDir, "secret");
  return [`Keep UPSTOW_DATA_DIR: ${path} is needed. On other machines set UPSTOW_SECRET to what is in it.`];
}
