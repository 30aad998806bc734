import type { ISql } from "postgres";
import { type Database, DatabaseUnavailable, type Queryable, UniqueViolation } from "../db/database.ts";
import type { Statement } from "../db/statement.ts";
import { loadPostgresDriver } from "./postgres-driver.ts";

const postgres = await loadPostgresDriver();

const migrationLock = 7_316_204_911;
const attemptsOnConflict = 5;

/** SQLSTATE classes and client codes that mean the server is away, not that the statement is wrong. */
const unavailable =
  /^(08...|25006|25P0[34]|57P0[1235]|57014|53...|CONNECTION_CLOSED|CONNECTION_ENDED|CONNECTION_DESTROYED|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
const uniqueViolation = "23505";
const conflict = /^(40001|40P01)$/;

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

  return {
    dialect: "postgres",
    revision: () => null,
    ...direct,
    change: direct.all,
    async transact(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return (await client.begin((tx) => work(queryable(tx)))) as Awaited<ReturnType<typeof work>>;
        } catch (error) {
          if (attempt < attemptsOnConflict && conflict.test(codeOf(error))) continue;
          throw explain(error);
        }
      }
    },
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

function queryable(client: ISql): Queryable {
  const query = (statement: Statement<object, unknown>, params: object) => {
    const { sql, bind } = statement.compile("postgres");
    return guard(client.unsafe(sql, bind(params) as never[], { prepare: true }));
  };
  return {
    all: (statement, params) => query(statement, params) as never,
    async get(statement, params) {
      const rows = await query(statement, params);
      return (rows[0] ?? null) as never;
    },
    async run(statement, params) {
      const result = await query(statement, params);
      return result.count;
    },
  };
}

async function guard<T>(call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  const code = codeOf(error);
  if (code === uniqueViolation) return new UniqueViolation("the value is taken", { cause: error });
  return unavailable.test(code)
    ? new DatabaseUnavailable(`PostgreSQL is not available (${code})`, { cause: error })
    : error;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}
