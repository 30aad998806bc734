import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import type { TestApp } from "./start-app.ts";

/** Everything an app has stored, as text to search: its files byte by byte, and the rows of its PostgreSQL. */
export async function dumpData(app: TestApp): Promise<string> {
  const entries = await readdir(app.dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1")));
  return texts.join("\n") + (app.databaseUrl === null ? "" : await dumpPostgres(app.databaseUrl));
}

async function dumpPostgres(url: string): Promise<string> {
  const sql = postgres(url, { max: 1 });
  try {
    const tables = await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
    const rows = await Promise.all(
      tables.map(({ tablename }) => sql`SELECT to_jsonb(t)::text AS row FROM ${sql(tablename)} t`),
    );
    return rows
      .flat()
      .map(({ row }) => row)
      .join("\n");
  } finally {
    await sql.end();
  }
}
