import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import type { TierName } from "@upstow/contract";
import { pino } from "pino";
import { pickFreePort } from "../../../../test/support/free-port.ts";
import { isQuickRun } from "../../../../test/support/quick-run.ts";
import { logFormat } from "../../src/app/log-output.ts";
import { type App, type AppOptions, createApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { createId } from "../../src/kernel/ids.ts";
import { insertAccount } from "../../src/projects/accounts/queries.ts";
import { createKey } from "../../src/projects/api-keys/api-keys.ts";
import { findActorByKeyHash } from "../../src/projects/api-keys/queries.ts";
import { createProject } from "../../src/projects/projects.ts";
import { exchange } from "./exchange.ts";
import { createMigratedDatabase, writeMigratedFile } from "./migrated-database.ts";
import { bucketEnv, onDisk } from "./test-bucket.ts";

export type DatabaseKind = "sqlite" | "postgres";
const databaseKinds: DatabaseKind[] = onDisk ? ["sqlite", "postgres"] : ["postgres"];
/** For what does not depend on the engine. */
export const anyDatabase: DatabaseKind = onDisk ? "sqlite" : "postgres";

/** Everything that touches data is tested on both engines; with files in a bucket on the one that goes with it. */
export function onBothDatabases(name: string, tests: (database: DatabaseKind) => void): void {
  for (const database of databaseKinds) describe(`${name} on ${database}`, () => tests(database));
}

/**
 * What hardly depends on the engine, in features whose statements other tests run on both: on one engine in `npm test`,
 * on both in `npm run test:all` and where a file is run by its name.
 */
export function onAnyDatabase(
  name: string,
  tests: (database: DatabaseKind) => void,
  preferred = anyDatabase,
): void {
  if (isQuickRun) describe(`${name} on ${preferred}`, () => tests(preferred));
  else onBothDatabases(name, tests);
}

/** The full one takes half a second a guess, which few tests are about. A hash bears its own cost. */
export const lowPasswordCost = { N: 1024, r: 8, p: 1 };

export interface Tenant {
  accountId: string;
  email: string;
  projectId: string;
  live: string;
  test: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  body: any;
}

export interface CallOptions {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface TestApp {
  app: App;
  url: string;
  dataDir: string;
  /** Null for the embedded database. */
  databaseUrl: string | null;
  /** The account made at first start. */
  owner: Tenant;
  /** Moves the service's clock; it stands still otherwise only when `setTime` was called. */
  clock: { now(): number; setTime(timeMs: number): void; advance(ms: number): void };
  logLines: string[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createTenant(tier: TierName): Promise<Tenant>;
  close(): Promise<void>;
}

export interface StartOptions {
  /** Left out where either will do: the embedded one then, or the one that goes with a bucket. */
  database?: DatabaseKind;
  env?: Record<string, string>;
  /** Use the rate limits of the contract instead of practically none. */
  keepRateLimits?: boolean;
  /** Shortens the windows of the rate limits, for databases whose clock cannot be moved. */
  rateWindowMs?: number;
  /** Instead of half a minute. */
  bodyWithinMs?: number;
  /** Instead of a minute. */
  idleTransferMs?: number;
  /** Looks this often whether the certificate was renewed, instead of every half minute. */
  certificateLookMs?: number;
  /** Instead of the service's own patience with sources of imports. */
  imports?: AppOptions["imports"];
  tools?: AppOptions["tools"];
  /** Hash passwords as the program does. */
  keepPasswordCost?: boolean;
  /** Continue with what an earlier app left. */
  reuse?: { dataDir: string; databaseUrl?: string };
}

export async function startApp(options: StartOptions = {}): Promise<TestApp> {
  const { database: kind = anyDatabase } = options;
  const dataDir = options.reuse?.dataDir ?? (await mkdtemp(join(tmpdir(), "upstow-app-")));
  const database = kind === "postgres" && !options.reuse?.databaseUrl ? await createMigratedDatabase() : null;
  const databaseUrl = options.reuse?.databaseUrl ?? database?.url;
  if (databaseUrl === undefined && options.reuse === undefined)
    await writeMigratedFile(join(dataDir, "upstow.db"));
  const clock = createClock();
  const logLines: string[] = [];
  const logger = pino({ level: "info", ...logFormat }, { write: (line: string) => void logLines.push(line) });
  const port = await pickFreePort();
  const config = readConfig({
    UPSTOW_HOST: "127.0.0.1",
    UPSTOW_PORT: String(port),
    UPSTOW_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { UPSTOW_DATABASE_URL: beingPatient(databaseUrl) }),
    ...(onDisk ? {} : await bucketEnv(databaseUrl ?? dataDir)),
    ...options.env,
  });
  let app: App | null = await createApp(config, {
    logger,
    now: clock.now,
    ...(options.bodyWithinMs === undefined ? {} : { bodyWithinMs: options.bodyWithinMs }),
    ...(options.idleTransferMs === undefined ? {} : { idleTransferMs: options.idleTransferMs }),
    ...(options.certificateLookMs === undefined ? {} : { certificateLookMs: options.certificateLookMs }),
    ...(options.imports === undefined ? {} : { imports: options.imports }),
    ...(options.tools === undefined ? {} : { tools: options.tools }),
    renderPatienceMs: 0,
    ...(options.keepPasswordCost === true ? {} : { passwordCost: lowPasswordCost }),
    // A window that ends at once never fills.
    ...(options.keepRateLimits === true ? {} : { rateWindowMs: options.rateWindowMs ?? 0 }),
  });
  await app.listen();
  const url = `${config.tls === null ? "http" : "https"}://127.0.0.1:${config.port}`;

  const started: TestApp = {
    get app() {
      return getOpen(app);
    },
    url,
    dataDir,
    databaseUrl: databaseUrl ?? null,
    owner: { accountId: "", email: "", projectId: "", live: "", test: "" },
    clock,
    logLines,
    call: (method, path, call) => callApi(url, method, path, call),
    createTenant: (tier) => createTenant(started.app, tier),
    async close() {
      await app?.close();
      // node:test keeps the functions of all tests until the process ends, and they keep this object. Without the app
      // it is small.
      app = null;
      // PostgreSQL writes everything to the disk first. The next test need not wait for that.
      void database?.drop();
      if (options.reuse === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
  if (app.firstStart !== null) started.owner = await describeOwner(app);
  return started;
}

function getOpen(app: App | null): App {
  if (app === null) throw new Error("This app is closed.");
  return app;
}

/** A process of tests may stand still for longer than PostgreSQL waits for an instance. */
function beingPatient(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("idle_in_transaction_session_timeout", "15000");
  return url.href;
}

export async function callApi(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { key, body, headers = {} } = options;
  const answer = await exchange(
    url + (path.startsWith("/") ? path : `/api/v1/${path}`),
    method,
    {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body === undefined || typeof body === "string" ? body : JSON.stringify(body),
  );
  const text = answer.bytes.toString();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: answer.status,
    headers: answer.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}

function createClock(): TestApp["clock"] {
  let offsetMs = 0;
  let fixed: number | null = null;
  return {
    now: () => fixed ?? Date.now() + offsetMs,
    setTime(timeMs) {
      fixed = timeMs;
    },
    advance(ms) {
      if (fixed === null) offsetMs += ms;
      else fixed += ms;
    },
  };
}

async function describeOwner(app: App): Promise<Tenant> {
  const { firstStart, deps } = app;
  if (firstStart === null) throw new Error("not a first start");
  const actor = await deps.db.get(findActorByKeyHash, { hash: hash("sha256", firstStart.liveKey) });
  const accountId = actor?.accountId ?? "";
  return {
    accountId,
    email: firstStart.email,
    projectId: firstStart.projectId,
    live: firstStart.liveKey,
    test: firstStart.testKey,
  };
}

async function createTenant(app: App, tier: TierName): Promise<Tenant> {
  const { db } = app.deps;
  const now = app.deps.now();
  const email = `${createId(now)}@example.com`;
  return db.transact(async (tx) => {
    const account = await tx.get(insertAccount, { id: createId(now), email, passwordHash: null, tier, now });
    if (account === null) throw new Error("the account exists");
    const project = await createProject(tx, now, { accountId: account.id, tier }, "tenant");
    const wanted = { projectId: project.id, tier };
    const live = await createKey(tx, now, { ...wanted, type: "live", name: "live" });
    const test = await createKey(tx, now, { ...wanted, type: "test", name: "test" });
    return { accountId: account.id, email, projectId: project.id, live: live.secret, test: test.secret };
  });
}
