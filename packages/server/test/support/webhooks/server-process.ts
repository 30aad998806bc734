import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "#kysely";
import { pickFreePort } from "../../../../../test/support/free-port.ts";
import { createTestDatabase } from "../../../../../test/support/postgres.ts";
import type { Database } from "../../../src/db/database.ts";
import { openPostgres } from "../../../src/db/postgres/postgres.ts";
import { openSqlite } from "../../../src/db/sqlite/sqlite.ts";
import { statement } from "../../../src/db/statement.ts";
import { type Answer, type CallOptions, callApi, type DatabaseKind } from "../start-app.ts";
import type { Certificate } from "./certificate.ts";

const program = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

const liftRateLimits = statement((q, _: object) =>
  q.updateTable("account").set({ rate_upload: 1_000_000, rate_other: 1_000_000 }),
);
const expireLeases = statement((q, _: object) =>
  q.updateTable("webhook_message").set({ lease_until: 1 }).where(sql<boolean>`state = 'leased'`),
);

export interface ServerProcess {
  child: ChildProcess;
  output: string[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Resolves with the exit code, or null where a signal ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** The program itself, in a process that can be killed, with data that outlives it. */
export interface Installation {
  liveKey: string;
  start(): Promise<ServerProcess>;
  /** What the time that a lease lasts does; call while no server runs. */
  expireLeases(): Promise<void>;
  remove(): Promise<void>;
}

export async function createInstallation(kind: DatabaseKind, trusted: Certificate): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-process-"));
  const authority = join(dataDir, "authority.pem");
  await writeFile(authority, trusted.cert);
  const postgres = kind === "postgres" ? await createTestDatabase() : null;
  const running = new Set<ChildProcess>();
  let liveKey = "";

  async function start(): Promise<ServerProcess> {
    const port = await pickFreePort();
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        UPSTOW_PORT: String(port),
        UPSTOW_DATA_DIR: dataDir,
        UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
        UPSTOW_WEBHOOK_RETRY_BASE_MS: "20",
        NODE_EXTRA_CA_CERTS: authority,
        ...(postgres === null ? {} : { UPSTOW_DATABASE_URL: postgres.url }),
      },
    });
    running.add(child);
    const exited = once(child, "exit") as Promise<[number | null]>;
    exited.then(() => running.delete(child));
    const output: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => output.push(text));
    await waitForWelcome(child, output);
    liveKey ||= /svc_live_\w+/.exec(output.join(""))?.[0] ?? "";
    return {
      child,
      output,
      call: (method, path, options) => callApi(`http://localhost:${port}`, method, path, options),
      async kill(signal) {
        child.kill(signal);
        const [code] = await exited;
        return code;
      },
    };
  }

  async function withDatabase(work: (db: Database) => Promise<unknown>): Promise<void> {
    const db = postgres === null ? openSqlite(join(dataDir, "upstow.db")) : openPostgres(postgres.url);
    await work(db);
    await db.close();
  }

  const first = await start();
  await first.kill("SIGKILL");
  await withDatabase((db) => db.run(liftRateLimits, {}));
  return {
    liveKey,
    start,
    expireLeases: () => withDatabase((db) => db.run(expireLeases, {})),
    async remove() {
      for (const child of running) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await postgres?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function waitForWelcome(child: ChildProcess, output: string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output.push(text);
    if (text.includes("Upstow is ready")) resolve();
  });
  child.once("exit", () => reject(new Error(`the server did not start:\n${output.join("")}`)));
  await promise;
}
