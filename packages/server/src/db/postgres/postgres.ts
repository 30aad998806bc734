import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { type Database, DatabaseUnavailable, type Migrating } from "../database.ts";
import { createLanes } from "../lanes.ts";
import { callKey, type Statement } from "../statement.ts";
import { buildIndexes } from "./build-indexes.ts";
import { connect, createConnections, type Send, sendOver } from "./connections.ts";
import { isLockTimeout } from "./errors.ts";
import { createListener } from "./listener.ts";
import { dropPartitions, keepPartitions } from "./partitions.ts";
import { createTransactions, inTransaction, queryable } from "./transactions.ts";

type AnyStatement = Statement<object, unknown>;

const migrationLock = 7_316_204_911;

export interface PostgresOptions {
  maxConnections?: number;
  /** How long a statement may take. */
  statementMs?: number;
}

export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const { maxConnections = 20, statementMs } = options;
  const connections = createConnections(url, maxConnections, statementMs);
  const direct = queryable(connections.send);
  const quick = queryable(connections.sendTogether);
  const transactions = createTransactions(connections);
  const listener = createListener(url);

  return {
    ...direct,
    change: direct.all,
    recall: shareReads(quick.get) as Database["recall"],
    recallAll: shareReads(quick.all) as Database["recallAll"],
    transact: ((work, lane) =>
      lane === undefined
        ? transactions.alone(work)
        : transactions.together(lane, work)) as Database["transact"],
    async migrate(work) {
      const client = await connect(url, null);
      try {
        await refuseSharedSessions(url, client);
        await withPauses(() => migrateOnce(sendOver(client), lockTimeoutOf(url), work));
      } finally {
        await client.end();
      }
    },
    buildIndexes: (definitions) => buildIndexes(url, connections.send, definitions),
    keepPartitions: (table, key, now) => keepPartitions(url, table, key, now),
    dropPartitions: (table, beforeId) => dropPartitions(url, table, beforeId),
    async notify(channel, message) {
      await connections.send({ text: "SELECT pg_notify($1, $2)", values: [channel, message] });
    },
    listen: listener.listen,
    pool: connections.pool,
    async check() {
      await connections.send({ text: "SELECT 1" });
    },
    async close() {
      await Promise.all([connections.close(), listener.close()]);
    },
  };
}

/** While a statement waits for a table, so does everyone who needs that table after it. */
const lockMs = 3_000;
/** Gives waiting work, and the transaction that holds the table, time to finish. */
const lockPauseMs = 2_000;
const lockAttempts = 30;

function lockTimeoutOf(url: string): number {
  return Number(new URL(url).searchParams.get("lock_timeout") ?? lockMs);
}

function migrateOnce(
  send: Send,
  lockTimeoutMs: number,
  work: (tx: Migrating) => Promise<void>,
): Promise<void> {
  return inTransaction(send, async (tx) => {
    await send({ text: "SET LOCAL statement_timeout = 0" });
    // Other instances' migrations may take long, and nothing else waits for this lock.
    await send({ text: "SET LOCAL lock_timeout = 0" });
    await send({ text: `SELECT pg_advisory_xact_lock(${migrationLock})` });
    await send({ text: `SET LOCAL lock_timeout = ${lockTimeoutMs}` });
    await work({
      ...tx,
      async script(sql) {
        await send({ text: sql });
      },
    });
  });
}

/** Tries again if a table was in use for too long. */
async function withPauses(attempt: () => Promise<void>): Promise<void> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (count === lockAttempts)
        throw new DatabaseUnavailable(
          "PostgreSQL: a table that has to be changed is in use; end the long transaction that uses it (see pg_stat_activity), and start again",
          { cause: error },
        );
      await wait(lockPauseMs);
    }
  }
}

/** One read for all callers that arrived before it started. */
function shareReads(read: (statement: AnyStatement, params: object) => Promise<unknown>) {
  const lanes = new Map<AnyStatement, (key: string, params: object) => Promise<unknown>>();
  return (statement: AnyStatement, params: object): Promise<unknown> => {
    let lane = lanes.get(statement);
    if (lane === undefined) {
      lane = createLanes<object, unknown>(async (calls) => {
        const result = await read(statement, calls[0] as object);
        return calls.map(() => result);
      });
      lanes.set(statement, lane);
    }
    return lane(callKey(statement.compile("postgres"), params), params);
  };
}

const rounds = 3;

/**
 * A pooler may give every transaction another connection. Prepared statements, time limits, locks and notifications
 * belong to a connection, so nearly everything would fail later, and some of it silently.
 */
async function refuseSharedSessions(url: string, client: pg.Client): Promise<void> {
  // Without a pooler, the server names the process that it told us when we connected.
  const pid = await findPid(client);
  if (pid === (client as unknown as { processID: number }).processID) return;
  const other = await connect(url);
  try {
    for (let round = 0; round < rounds; round++) {
      if (await isShared(client, other)) throw refusal();
    }
  } finally {
    await other.end();
  }
}

/** While both are connected, two sessions have two connections and keep them. */
async function isShared(client: pg.Client, other: pg.Client): Promise<boolean> {
  const before = await findPid(client);
  const send = sendOver(other);
  try {
    await send({ text: "BEGIN" });
  } catch (error) {
    const { cause } = error as Error;
    // A pooler that shares single statements allows no transactions.
    throw cause instanceof pg.DatabaseError || error instanceof pg.DatabaseError ? refusal() : error;
  }
  const taken = await findPid(other);
  const after = await findPid(client);
  await send({ text: "COMMIT" });
  return taken === before || after !== before;
}

async function findPid(client: pg.Client): Promise<number> {
  const { rows } = await sendOver(client)({ text: "SELECT pg_backend_pid() AS pid" });
  return rows[0].pid;
}

function refusal(): DatabaseUnavailable {
  return new DatabaseUnavailable(
    "the pooler shares connections between sessions (PgBouncer's transaction or statement mode); use session mode or a direct connection",
  );
}
