import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../packages/server/src/db/database.ts";
import { openPostgres } from "../packages/server/src/db/postgres/postgres.ts";
import { openSqlite } from "../packages/server/src/db/sqlite/sqlite.ts";
import { findAccountByEmail, setOwnLimits } from "../packages/server/src/projects/accounts/queries.ts";
import { spawnMain } from "../packages/server/test/support/spawn-server.ts";
import {
  type Answer,
  type CallOptions,
  callApi,
  type DatabaseKind,
} from "../packages/server/test/support/start-app.ts";
import { pickFreePort } from "../test/support/free-port.ts";
import { createTestDatabase } from "../test/support/postgres.ts";

export interface Server {
  /** True from the moment the signal is sent; broken connections are to be expected then. */
  isKilled(): boolean;
  kill(): Promise<void>;
  pid: number;
  /** It does nothing more until it is killed, or the result is called. */
  pause(): () => void;
  /** Lets it finish what is in flight. */
  stop(): Promise<void>;
}

/** The real program with data that outlives it; URLs stay valid, since every start takes the same port. */
export interface Installation {
  url: string;
  dataDir: string;
  key: string;
  projectId: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  start(): Promise<Server>;
  withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

/** Ports that connections leave from may be the server's for a moment. */
const startAttempts = 20;

export async function createInstallation(
  env: Record<string, string> = {},
  place?: string,
  database: DatabaseKind = "sqlite",
): Promise<Installation> {
  const dataDir = place ?? (await mkdtemp(join(tmpdir(), "upstow-torture-")));
  const postgres = database === "postgres" ? await createTestDatabase() : null;
  const port = await pickFreePort();
  const url = `http://localhost:${port}`;
  const settings = {
    UPSTOW_PORT: String(port),
    UPSTOW_DATA_DIR: dataDir,
    UPSTOW_LOG_LEVEL: "error",
    ...(postgres && { UPSTOW_DATABASE_URL: postgres.url }),
    ...env,
  };
  let running: Server | null = null;

  async function start(): Promise<Server & { output: string }> {
    for (let attempt = 1; ; attempt++) {
      const started = await launch(settings);
      if (started.server !== null) {
        running = started.server;
        return { ...started.server, output: started.output };
      }
      if (attempt === startAttempts || !started.output.includes("is in use by another program"))
        throw new Error(`the server did not start:\n${started.output}`);
      await wait(250);
    }
  }

  async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const db =
      postgres === null
        ? openSqlite(join(dataDir, "upstow.db"))
        : openPostgres(postgres.url, { maxConnections: 2 });
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  }

  const first = await start();
  await withDatabase((db) => liftRateLimits(db));
  await first.stop();
  return {
    url,
    dataDir,
    key: /svc_live_\w+/.exec(first.output)?.[0] ?? "",
    projectId: /Project\s+(\w+)/.exec(first.output)?.[1] ?? "",
    call: (method, path, options) => callApi(url, method, path, options),
    start,
    withDatabase,
    async remove() {
      await running?.kill();
      await postgres?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function launch(
  env: Record<string, string>,
): Promise<{ server: Server | null; output: string }> {
  const child = spawnMain(env);
  const killWithParent = () => void child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const exited = once(child, "exit").finally(() => process.off("exit", killWithParent));
  let output = "";
  const ready = new Promise<void>((resolve) => {
    const keep = (text: string) => {
      output += text;
      if (/Upstow is ready at \S+\n/.test(output)) resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", keep);
    child.stderr?.setEncoding("utf8").on("data", keep);
  });
  const isReady = await Promise.race([ready.then(() => true), exited.then(() => false)]);
  let isKilled = false;
  const end = async (signal: NodeJS.Signals) => {
    isKilled = true;
    child.kill(signal);
    await exited;
  };
  const server = {
    pid: child.pid ?? 0,
    isKilled: () => isKilled,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    pause: () => {
      child.kill("SIGSTOP");
      return () => void child.kill("SIGCONT");
    },
  };
  return { server: isReady ? server : null, output };
}

export async function liftRateLimits(db: Database, email = "owner@localhost"): Promise<void> {
  const { id = "" } = (await db.get(findAccountByEmail, { email })) ?? {};
  const many = 1_000_000;
  await db.run(setOwnLimits, {
    id,
    rateUpload: many,
    rateOther: many,
    rateTransform: many,
    transformUnits: null,
    now: Date.now(),
  });
}
