import { join } from "node:path";
import type { Config } from "@upstow/server/config";
import type { MoveDatabaseReport } from "@upstow/server/ops/relocation/database/move-database";
import type { Command, Result } from "../command.ts";
import { bucketSettings, databaseSettings, describeRestart } from "../migrate/settings.ts";

export const migrateDatabase: Command = {
  name: "migrate database",
  summary: "Move the embedded database of a running installation to PostgreSQL",
  options: {
    abort: { description: "cancel the move; the service accepts changes again" },
  },
  notes: `Set UPSTOW_DATABASE_URL for this command, but not yet for the service; that database must be
empty. The service is read-only from the start until it is restarted on PostgreSQL. All rows of both databases are
compared at the end. If interrupted, run it again to continue where it stopped. To move the files as well, run
\`upstow migrate storage --finish\` first.`,
  async run(call) {
    const { runAbandonDatabase, runMoveDatabase } = await import("../migrate/move-database.ts");
    if (call.options.has("abort")) {
      const { isWritable, isMarked } = await runAbandonDatabase(call);
      const now = isWritable
        ? "the embedded database accepts changes again."
        : "the service stays read-only because its files are being moved; `upstow migrate storage --abort` cancels that.";
      const copy = isMarked
        ? "The copy is now useless, and no service starts on it."
        : "The copy is now useless, but could not be marked as such because UPSTOW_DATABASE_URL does not point to it: never start the service on it.";
      return { json: { state: "abandoned", isMarked }, text: `The move is cancelled: ${now} ${copy}` };
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
    `${rows} rows of ${report.tables.length} tables are in ${report.target} and match the embedded database.`,
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
  return [`Keep UPSTOW_DATA_DIR: ${path} is needed. On other machines, set UPSTOW_SECRET to its contents.`];
}
