import type { Database, Queryable } from "../db/database.ts";
import type { Statement } from "../db/statement.ts";
import { createLanes } from "./lanes.ts";
import { loadPostgresDriver } from "./postgres-driver.ts";
import { guard, queryable } from "./postgres-queries.ts";
import { createTransactions } from "./postgres-transactions.ts";

const postgres = await loadPostgresDriver();

const migrationLock = 7_316_204_911;

export function openPostgres(url: string, options: { maxConnections?: number } = {}): Database {
  const client = postgres(url, {
    max: options.maxConnections ?? 20,
    idle_timeout: 60,
    connect_timeout: 5,
    max_lifetime: 60 * 30,
    backoff: (retries: number) => Math.min(1, 0.05 * 2 ** retries),
    fetch_types: false,
    // Every whole number of ours, bytes and milliseconds included, is below 2^53.
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: "upstow",
      statement_timeout: 10_000,
      idle_in_transaction_session_timeout: 15_000,
    },
    onnotice: () => {},
  });
  const direct = queryable(client);
  const transactions = createTransactions(client);

  return {
    dialect: "postgres",
    ...direct,
    change: direct.all,
    recall: createRecall(direct),
    transact: ((work, lane) =>
      lane === undefined
        ? transactions.alone(work)
        : transactions.together(lane, work)) as Database["transact"],
    async migrate(work) {
      const migrating = client.begin(async (tx) => {
        await tx`SET LOCAL statement_timeout = 0`;
        await tx`SELECT pg_advisory_xact_lock(${migrationLock})`;
        await work({
          ...queryable(tx),
          async script(sql) {
            await tx.unsafe(sql).simple();
          },
        });
      });
      await guard(migrating);
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

function createRecall({ get }: Queryable): Database["recall"] {
  const asking = new Map<
    Statement<object, unknown>,
    (name: string, params: () => object) => Promise<unknown>
  >();
  return (statement, name, params) => {
    let ask = asking.get(statement);
    if (ask === undefined) {
      ask = createLanes<() => object, unknown>(async (asked) => {
        const row = await get(statement, (asked[0] as typeof params)());
        return asked.map(() => row);
      });
      asking.set(statement, ask);
    }
    return ask(name, params) as never;
  };
}
