import { sql } from "#kysely";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("database");

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

const oldestVersion = 140_000;
/** The connections that one instance may open. */
const poolSize = 20;

export async function checkPostgres(db: Database): Promise<Check[]> {
  const server = await db.get(describeServer, {});
  if (server === null) return [failed("It does not say what it is.", "Check UPSTOW_DATABASE_URL.")];
  const checks: Check[] = [];
  if (Number(server.versionNumber) < oldestVersion) {
    checks.push(failed(`PostgreSQL ${server.version} is too old.`, "Move to PostgreSQL 14 or later."));
  }
  if (server.encoding !== "UTF8") {
    checks.push(failed(`Its encoding is ${server.encoding}.`, "Make the database with ENCODING 'UTF8'."));
  }
  for (const [name, value] of [
    ["fsync", server.fsync],
    ["full_page_writes", server.fullPageWrites],
    ["synchronous_commit", server.synchronousCommit],
  ]) {
    if (value !== "off") continue;
    checks.push(failed(`${name} is off, so a crash can lose what was acknowledged.`, `Set ${name} = on.`));
  }
  const most = Number(server.maxConnections);
  const connections = `${server.used} of ${most} connections in use`;
  if (most - server.used < poolSize) {
    checks.push(
      warning(
        `${connections}; an instance may need ${poolSize}.`,
        "Raise max_connections, or put a pooler in between.",
      ),
    );
  }
  return checks.length > 0 ? checks : [ok(`PostgreSQL ${server.version}, ${connections}`)];
}
