import type { Database } from "../database.ts";
import { createLanes } from "../lanes.ts";
import { callKey, type Statement } from "../statement.ts";
import { connect, createConnections, sendOver } from "./connections.ts";
import { createListener } from "./listener.ts";
import { refuseSharedSessions } from "./refuse-shared-sessions.ts";
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
    dialect: "postgres",
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
      const send = sendOver(client);
      try {
        await refuseSharedSessions(url, client);
        await inTransaction(send, async (tx) => {
          await send({ text: "SET LOCAL statement_timeout = 0" });
          await send({ text: `SELECT pg_advisory_xact_lock(${migrationLock})` });
          await work({
            ...tx,
            async script(sql) {
              await send({ text: sql });
            },
          });
        });
      } finally {
        await client.end();
      }
    },
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
