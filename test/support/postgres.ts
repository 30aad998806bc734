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
  ownCluster ??= startPostgres();
  return (await ownCluster).url;
}

async function execute(clusterUrl: string, statement: string): Promise<void> {
  const sql = postgres(clusterUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

/** A new, empty database. `drop` closes the connections still open on it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const clusterUrl = await getClusterUrl();
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(clusterUrl, `CREATE DATABASE ${name}`);
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(clusterUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
