import { findSlowFsync } from "../harness/slow-fsync.ts";
import { startFloor } from "./floor.ts";
import { startPostgresServer } from "./postgres.ts";
import { startUpstow, type Upstow } from "./upstow.ts";

/** Upstow on one of its databases, ready to be measured. */
export interface Installation {
  name: string;
  label: string;
  upstow: Upstow;
  pids: { server: number; database?: number };
}

export interface Installations {
  all: Installation[];
  embedded: Installation;
  /** What could not be started here, in words. */
  notes: string[];
  stop(): Promise<void>;
}

/** A collector that takes every span. */
const acceptance = {
  status: 200,
  headers: { "content-type": "application/json" },
  bodyBase64: Buffer.from("{}").toString("base64"),
};

/**
 * The embedded database and PostgreSQL, each also with fsync slowed to 1 ms, and once with a line logged per request
 * or every request traced.
 */
export async function startInstallations(folder: string): Promise<Installations> {
  const stops: (() => Promise<void>)[] = [];
  const start = async (
    name: string,
    label: string,
    options: { isPostgres?: boolean; logLevel?: "info"; env?: Record<string, string> },
  ): Promise<Installation> => {
    const { isPostgres = false, env = {}, ...rest } = options;
    const database = isPostgres ? await startPostgresServer(env) : null;
    if (database !== null) stops.unshift(database.stop);
    const upstow = await startUpstow({
      folder,
      env,
      ...rest,
      ...(database === null ? {} : { databaseUrl: database.url }),
    });
    stops.unshift(upstow.stop);
    const pids = { server: upstow.pid, ...(database === null ? {} : { database: database.pid }) };
    return { name, label, upstow, pids };
  };

  const collector = await startFloor(folder, acceptance);
  stops.unshift(collector.stop);
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` };
  const embedded = await start("embedded", "embedded database", {});
  const all = [
    embedded,
    await start("logging", "embedded, a log line per request", { logLevel: "info" }),
    await start("tracing", "embedded, every request traced", { env: traced }),
    await start("postgres", "PostgreSQL", { isPostgres: true }),
    await start("postgres-tracing", "PostgreSQL, every request traced", { isPostgres: true, env: traced }),
  ];
  const env = findSlowFsync(folder);
  if (env !== null) {
    all.push(await start("embedded-slow", "embedded, fsync of 1 ms", { env }));
    all.push(await start("postgres-slow", "PostgreSQL, fsync of 1 ms", { isPostgres: true, env }));
  }
  return {
    all,
    embedded,
    notes:
      env === null ? ["Left out, for want of a C compiler (cc): the runs with fsync slowed to 1 ms."] : [],
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}
