import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@upstow/server/config";
import type { Deps } from "@upstow/server/deps";
import { type Call, OperatorError } from "./command.ts";
import { operatorOf } from "./operator.ts";

type OperatorDeps = Pick<Deps, "config" | "db" | "now" | "author">;

/** Runs `work` on the installation's database, whether or not the service is running. */
export async function withDatabase<T>(call: Call, work: (deps: OperatorDeps) => Promise<T>): Promise<T> {
  const config = call.config();
  if (!hasDatabase(config)) {
    throw new OperatorError(
      "NOT_FOUND",
      `There is no installation in ${config.dataDir}. Set UPSTOW_DATA_DIR or UPSTOW_DATABASE_URL to the service's value, or start the service once with npm start.`,
    );
  }
  return openFor(call, work);
}

/** Like `withDatabase`, but creates the database of an installation that was never started. */
export async function withNewDatabase<T>(call: Call, work: (deps: OperatorDeps) => Promise<T>): Promise<T> {
  const config = call.config();
  if (!hasDatabase(config)) {
    call.note(`No installation in ${config.dataDir} yet; creating its database.`);
  }
  return openFor(call, work);
}

/** Whether an embedded database exists; a PostgreSQL server reports this itself. */
export function hasDatabase(config: Config): boolean {
  return config.databaseUrl !== null || existsSync(databasePath(config));
}

export function databasePath(config: Config): string {
  return join(config.dataDir, "upstow.db");
}

async function openFor<T>(call: Call, work: (deps: OperatorDeps) => Promise<T>): Promise<T> {
  const config = call.config();
  const { openDatabase } = await import("@upstow/server/app/compose");
  const db = await openDatabase(config);
  try {
    return await work({ config, db, now: Date.now, author: operatorOf(call) });
  } finally {
    await db.close();
  }
}
