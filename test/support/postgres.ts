import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { type PostgresHandle, startPostgres } from "./postgres-cluster.ts";

export { type PostgresHandle, startPostgres } from "./postgres-cluster.ts";

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

let ownCluster: Promise<PostgresHandle> | undefined;

// `npm test` starts one cluster for all files. A file run by hand starts its own, which ends with the process.
async function getClusterUrl(): Promise<string> {
  const shared = process.env["UPSTOW_TEST_POSTGRES_URL"];
  if (shared !== undefined) return shared;
  ownCluster ??= startPostgres({ isInMemory: true });
  return (await ownCluster).url;
}

let control: { clusterUrl: string; sql: postgres.Sql } | undefined;

/** One for the whole process: to connect takes longer than what it is used for. It closes itself. */
function controlOf(clusterUrl: string): postgres.Sql {
  if (control?.clusterUrl !== clusterUrl) {
    control = { clusterUrl, sql: postgres(clusterUrl, { max: 3, idle_timeout: 1, onnotice: () => {} }) };
  }
  return control.sql;
}

const urlOf = (clusterUrl: string, name: string) => {
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return url.href;
};

export interface Template {
  /** One for all processes that use the cluster, so it has to tell what is inside. */
  name: string;
  fill(url: string): Promise<void>;
}

const templates = new Map<string, Promise<void>>();

async function createTemplate(clusterUrl: string, { name, fill }: Template): Promise<void> {
  await controlOf(clusterUrl).begin(async (lock) => {
    await lock`SELECT pg_advisory_xact_lock(hashtext(${name}))`;
    const sql = controlOf(clusterUrl);
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = ${name}`;
    if (found.length > 0) return;
    const draft = `draft_${randomBytes(8).toString("hex")}`;
    await sql.unsafe(`CREATE DATABASE ${draft}`);
    await fill(urlOf(clusterUrl, draft));
    await sql.unsafe(`ALTER DATABASE ${draft} RENAME TO ${name}`);
    // Nobody can copy a database that somebody is connected to.
    await sql.unsafe(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  });
}

/** A new database, empty or a copy of the template. `drop` closes the connections still open on it. */
export async function createTestDatabase(template?: Template): Promise<TestDatabase> {
  const clusterUrl = await getClusterUrl();
  const name = `test_${randomBytes(8).toString("hex")}`;
  if (template === undefined) {
    await controlOf(clusterUrl).unsafe(`CREATE DATABASE ${name}`);
  } else {
    const ready = templates.get(template.name) ?? createTemplate(clusterUrl, template);
    templates.set(template.name, ready);
    await ready;
    // Copied as files it takes half the processor time of a copy that goes through the log.
    const copy = `CREATE DATABASE ${name} TEMPLATE ${template.name} STRATEGY file_copy`;
    await controlOf(clusterUrl).unsafe(copy);
  }
  return {
    url: urlOf(clusterUrl, name),
    async drop() {
      await controlOf(clusterUrl).unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}
