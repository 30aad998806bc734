import { readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { startPostgres } from "../../test/support/postgres-cluster.ts";

export interface PostgresServer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

const running = new Set<PostgresServer>();

/** What a benchmark that broke off has left. */
export async function stopPostgresServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()));
}

/** A cluster of its own with the settings PostgreSQL comes with, fsync on. */
export async function startPostgresServer(env: Record<string, string> = {}): Promise<PostgresServer> {
  const cluster = await withEnvironment(env, startPostgres);
  const sql = postgres(cluster.url, { max: 1 });
  const [place] = await sql<{ path: string }[]>`SELECT current_setting('data_directory') AS path`;
  await sql.end();
  const [pid] = readFileSync(join(place?.path ?? "", "postmaster.pid"), "utf8").split("\n");
  const server = {
    url: cluster.url,
    pid: Number(pid),
    async stop() {
      await cluster.stop();
      running.delete(server);
    },
  };
  running.add(server);
  return server;
}

/** One more database of the same server; returns its address. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  const sql = postgres(serverUrl, { max: 1 });
  await sql`CREATE DATABASE ${sql(name)}`;
  await sql.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withEnvironment<T>(env: Record<string, string>, work: () => Promise<T>): Promise<T> {
  Object.assign(process.env, env);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
}
