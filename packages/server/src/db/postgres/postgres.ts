import type { Database } from "../database.ts";
import { createLanes } from "../lanes.ts";
import { callKey, type Statement } from "../statement.ts";
import { loadPostgresDriver } from "./driver.ts";
import { createTransactions, guard, queryable } from "./transactions.ts";

const postgres = await loadPostgresDriver();

type AnyStatement = Statement<object, unknown>;

const migrationLock = 7_316_204_911;

const usualStatementMs = 10_000;

export interface PostgresOptions {
  maxConnections?: number;
  /** How long a statement may take. */
  statementMs?: number;
}

/** Without a time limit, statements wait for the server indefinitely. */
export function createClient(
  url: string,
  maxConnections: number,
  withinMs: number | null = usualStatementMs,
) {
  return postgres(url, {
    max: maxConnections,
    idle_timeout: 60,
    connect_timeout: 5,
    max_lifetime: 60 * 30,
    backoff: (retries: number) => Math.min(1, 0.05 * 2 ** retries),
    fetch_types: false,
    // All our integers, including bytes and milliseconds, are below 2^53.
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: "upstow",
      ...(withinMs === null ? {} : { statement_timeout: withinMs }),
      idle_in_transaction_session_timeout: 15_000,
    },
    onnotice: () => {},
  });
}

export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const { maxConnections = 20, statementMs = usualStatementMs } = options;
  const client = createClient(url, maxConnections, statementMs);
  const direct = queryable(client);
  const transactions = createTransactions(client);

  return {
    dialect: "postgres",
    ...direct,
    change: direct.all,
    recall: shareReads(direct.get) as Database["recall"],
    recallAll: shareReads(direct.all) as Database["recallAll"],
    transact: ((work, lane) =>
      lane === undefined
        ? transactions.alone(work)
        : transactions.together(lane, work)) as Database["transact"],
    async migrate(work) {
      const patient = createClient(url, 1, null);
      const migrating = patient.begin(async (tx) => {
        await tx`SET LOCAL statement_timeout = 0`;
        await tx`SELECT pg_advisory_xact_lock(${migrationLock})`;
        await work({
          ...queryable(tx),
          async script(sql) {
            await tx.unsafe(sql).simple();
          },
        });
      });
      try {
        await guard(migrating);
      } finally {
        await patient.end();
      }
    },
    async notify(channel, message) {
      await guard(client.notify(channel, message));
    },
    async listen(channel, onMessage) {
      await guard(client.listen(channel, onMessage));
    },
    async check() {
      await guard(client`SELECT 1`);
    },
    async close() {
      await client.end({ timeout: 5 });
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
