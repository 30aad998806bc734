import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openPostgres } from "./adapters/postgres.ts";
import { openSqlite } from "./adapters/sqlite.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { migrate } from "./db/migrate.ts";
import { createKeyring, type Keyring } from "./security/keyring.ts";
import { readOrCreateSecret } from "./security/secret-file.ts";

/** The database that the configuration names, brought up to date. Operator commands open it beside a server. */
export async function openDatabase(config: Config): Promise<Database> {
  const db = config.databaseUrl === null ? openEmbedded(config.dataDir) : openPostgres(config.databaseUrl);
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

function openEmbedded(dataDir: string): Database {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return openSqlite(join(dataDir, "upstow.db"));
}

export function openKeyring(config: Config): Keyring {
  return createKeyring(config.secrets ?? [readOrCreateSecret(config.dataDir)]);
}
