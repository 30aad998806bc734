import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import pg from "pg";
import { beginCall } from "../../kernel/calls.ts";
import type { Pool } from "../database.ts";
import { explain, isLost } from "./errors.ts";

const usualStatementMs = 10_000;
const connectMs = 5_000;
/** Beyond the statement timeout: a live server reports the timeout by then. */
const silenceMs = 5_000;
const closeMs = 5_000;

/** One statement, or several without parameters. */
export type Send = (query: pg.QueryConfig) => Promise<pg.QueryResult>;

export interface Connections {
  send: Send;
  /** For quick lookups: those sent at the same moment, or waiting for a connection, share one. */
  sendTogether: Send;
  /** Lends a connection for as long as `work` takes. */
  lend<T>(work: (send: Send) => Promise<T>): Promise<T>;
  pool(): Pool;
  close(): Promise<void>;
}

interface Waiting {
  query: pg.QueryConfig;
  resolve: (result: pg.QueryResult) => void;
  reject: (reason: unknown) => void;
}

export function createConnections(
  url: string,
  maxConnections: number,
  statementMs = usualStatementMs,
): Connections {
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    ...settings(url, statementMs),
    Client: ConnectingClient,
    onConnect: (client) => setLimits(client, limitsOf(url, statementMs)),
    max: maxConnections,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: 30 * 60,
    // The longest wait for a free connection.
    connectionTimeoutMillis: statementMs + silenceMs,
    stream() {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
  });
  pool.on("error", ignoreLoss);
  pool.on("connect", (client) => client.on("error", ignoreLoss));

  async function lend<T>(work: (send: Send) => Promise<T>): Promise<T> {
    const client = await explained(() => pool.connect());
    try {
      return await work(sendOver(client));
    } finally {
      client.release(lost.has(client) || client.getTransactionStatus() !== "I");
    }
  }

  let waiting: Waiting[] = [];
  async function sendWaiting(): Promise<void> {
    try {
      await lend(async (send) => {
        const sent = waiting;
        waiting = [];
        await Promise.all(sent.map(({ query, resolve, reject }) => send(query).then(resolve, reject)));
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      waiting = [];
    }
  }

  async function close(): Promise<void> {
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, closeMs);
    await pool.end();
    await Promise.all(
      Array.from(sockets, (socket) => new Promise((resolve) => socket.once("close", resolve))),
    );
    clearTimeout(timer);
  }

  let closing: Promise<void> | undefined;
  return {
    send: (query) => lend((send) => send(query)),
    sendTogether: (query) =>
      new Promise((resolve, reject) => {
        if (waiting.push({ query, resolve, reject }) === 1) sendWaiting();
      }),
    lend,
    pool: () => ({
      open: pool.totalCount,
      idle: pool.idleCount,
      most: maxConnections,
      waiting: pool.waitingCount,
    }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

export async function connect(url: string, statementMs?: number | null): Promise<pg.Client> {
  return explained(async () => {
    const client = new ConnectingClient(settings(url, statementMs));
    client.on("error", ignoreLoss);
    await client.connect();
    await setLimits(client, limitsOf(url, statementMs));
    return client;
  });
}

/** Clients whose connection is gone or silent. */
const lost = new WeakSet<pg.Client>();

export function sendOver(client: pg.Client): Send {
  return (query) =>
    new Promise((resolve, reject) => {
      const call = beginCall("database", verbOf(query.text));
      gatherWrites(client.connection.stream);
      const done = (error: Error | null | undefined, result: unknown) => {
        call.end(error ?? undefined);
        if (!error) return resolve(result as pg.QueryResult);
        const explained = explain(error);
        if (isLost(explained)) lost.add(client);
        reject(explained);
      };
      client.query(new NamedQuery(query, done));
    });
}

/** From an object of its settings, the driver would make a copy of each property, which costs 6 us. */
class NamedQuery extends pg.Query {
  readonly name: string | undefined;
  constructor({ name, text, values }: pg.QueryConfig, done: (error?: Error, result?: unknown) => void) {
    super(text, values, done);
    this.name = name;
  }
}

function verbOf(sql: string): string {
  const end = sql.indexOf(" ");
  return (end === -1 ? sql : sql.slice(0, end)).toLowerCase();
}

/** One write for all statements of a moment: its system call costs as much as a small statement itself. */
function gatherWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

type Limits = Record<string, string | number>;

/**
 * How long an instance stalled in the middle of a transaction can lock the rows it has changed. A healthy one sends its
 * next statement within milliseconds.
 */
const idleMs = 2_000;
/** Migrations hold up everyone anyway, and should not fail because of a pause. */
const patientIdleMs = 15_000;

const limitNames = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];

/** The server's own time limits; those in the URL come first. */
function limitsOf(url: string, statementMs: number | null = usualStatementMs): Limits {
  const named = [...new URL(url).searchParams].filter(([name]) => limitNames.includes(name));
  return {
    ...(statementMs === null ? {} : { statement_timeout: statementMs }),
    idle_in_transaction_session_timeout: statementMs === null ? patientIdleMs : idleMs,
    ...Object.fromEntries(named),
  };
}

/** As startup parameters they would be simpler, but PgBouncer rejects connections that have them. */
async function setLimits(client: pg.ClientBase, limits: Limits): Promise<void> {
  const calls = Object.keys(limits).map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, false)`);
  await client.query(`SELECT ${calls.join(", ")}`, Object.entries(limits).flat().map(String));
}

/** Without a time limit, statements wait for the server indefinitely. */
export function settings(url: string, statementMs: number | null = usualStatementMs): pg.ClientConfig {
  return {
    connectionString: readAddress(url),
    application_name: "upstow",
    // Jobs that share a transaction don't wait for each other's results.
    pipeline: true,
    ...(statementMs === null ? {} : { query_timeout: statementMs + silenceMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: 60_000,
    types: { getTypeParser },
  };
}

const readByDriver = /^(ssl\w*|host|port|user|password|options|application_name|connect_timeout)$/;

/** Passes unknown parameters of the URL to the server, which rejects those it does not know either. */
function readAddress(url: string): string {
  const address = new URL(url);
  const { searchParams } = address;
  for (const name of limitNames) searchParams.delete(name);
  const settings = [...searchParams].filter(([name]) => !readByDriver.test(name));
  const options = settings.map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, "\\$&")}`);
  for (const [name] of settings) searchParams.delete(name);
  if (options.length > 0)
    searchParams.set("options", [searchParams.get("options") ?? "", ...options].join(" "));
  // Without it, `sslmode=require` would also verify the certificate and reject self-signed ones.
  searchParams.set("uselibpqcompat", "true");
  return address.href;
}

/** All our integers, including bytes and milliseconds, are below 2^53. */
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: "text" | "binary") =>
  type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as "text");

/** The pool would pass its own, longer timeout to its clients. */
class ConnectingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: connectMs });
  }
}

/** Pending statements are rejected anyway; without a listener the error event would crash the process. */
function ignoreLoss(): void {}

/** Includes what the driver throws about a URL, such as for a missing certificate file. */
async function explained<T>(connecting: () => Promise<T>): Promise<T> {
  try {
    return await connecting();
  } catch (error) {
    throw explain(error);
  }
}
