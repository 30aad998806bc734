import type { ISql, Row, RowList, Sql } from "postgres";
import { DatabaseReadOnly, DatabaseUnavailable, type Queryable, UniqueViolation } from "../database.ts";
import { createLanes } from "../lanes.ts";
import type { Statement } from "../statement.ts";

type Work = (tx: Queryable) => Promise<unknown>;
type Outcome = PromiseSettledResult<unknown>;

const attemptsOnConflict = 5;
const mostTogether = () => 64;
const conflict = /^(40001|40P01)$/;

export interface Transactions {
  alone(work: Work): Promise<unknown>;
  together(lane: string, work: Work): Promise<unknown>;
}

/**
 * All uploads to a project change the same few rows, and would wait for each other's commits, one fsync after another.
 * Work in one lane shares a transaction instead. If some of it fails after a change, each job is run on its own.
 */
export function createTransactions(client: Sql): Transactions {
  async function alone(work: Work): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.begin((tx) => work(queryable(tx)));
      } catch (error) {
        if (attempt < attemptsOnConflict && conflict.test(codeOf(error))) continue;
        throw explain(error);
      }
    }
  }

  async function asOne(works: Work[]): Promise<Outcome[] | null> {
    try {
      return await client.begin(async (tx: ISql) => {
        let isDirty = false;
        const shared = queryable(tx, () => {
          isDirty = true;
        });
        const outcomes = await Promise.allSettled(
          works.map(async (work) => {
            try {
              return await work(shared);
            } catch (error) {
              if (isDirty) throw new MemberFailed();
              throw error;
            }
          }),
        );
        if (
          outcomes.some((outcome) => outcome.status === "rejected" && outcome.reason instanceof MemberFailed)
        )
          throw new MemberFailed();
        return outcomes;
      });
    } catch (error) {
      // After any other error the transaction may have been committed, so repeating it could apply it twice.
      if (error instanceof MemberFailed || conflict.test(codeOf(error))) return null;
      throw explain(error);
    }
  }

  const inLane = createLanes<Work, Outcome>(async (works) => {
    const outcomes = works.length > 1 ? await asOne(works) : null;
    return outcomes ?? Promise.allSettled(works.map(alone));
  }, mostTogether);

  return {
    alone,
    async together(lane, work) {
      const outcome = await inLane(lane, work);
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    },
  };
}

class MemberFailed extends Error {}

/** SQLSTATE classes and client codes which mean that the server is unavailable, not that the statement is wrong. */
const unavailable =
  /^(08...|25006|25P0[34]|28...|3D000|57P0[12345]|57014|53...|CONNECTION_CLOSED|CONNECTION_ENDED|CONNECTION_DESTROYED|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
const uniqueViolation = "23505";
/** Raised only by the triggers that reject changes. */
const refusedByTrigger = "UP001";

const prepared = { prepare: true };

/**
 * Awaited instead of chained with `then`, which is measurably slow with the driver's own promises. `onDirty` is called
 * after a statement that changed rows, or that failed, which makes the transaction unusable.
 */
export function queryable(client: ISql, onDirty?: () => void): Queryable {
  const ask = async <T>(statement: Statement<object, unknown>, params: object, take: (rows: Rows) => T) => {
    try {
      const { sql, bind } = statement.compile("postgres");
      const rows = await client.unsafe(sql, bind(params) as never[], prepared);
      if (rows.count > 0 && !sql.startsWith("select")) onDirty?.();
      return take(rows);
    } catch (error) {
      onDirty?.();
      throw explain(error);
    }
  };
  return {
    all: (statement, params) => ask(statement, params, allOf) as never,
    get: (statement, params) => ask(statement, params, firstOf) as never,
    run: (statement, params) => ask(statement, params, countOf),
  };
}

type Rows = RowList<Row[]>;
const allOf = (rows: Rows) => rows;
const firstOf = (rows: Rows) => rows[0] ?? null;
const countOf = (rows: Rows) => rows.count;

export async function guard<T>(call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  const code = codeOf(error);
  if (code === uniqueViolation) return new UniqueViolation("the value is taken", { cause: error });
  if (code === refusedByTrigger) return new DatabaseReadOnly("the database is read-only", { cause: error });
  // Fatal errors end the connection whatever was sent, such as for an unknown parameter in the URL.
  const isFatal = (error as { severity?: unknown } | null)?.severity === "FATAL";
  return unavailable.test(code) || isFatal
    ? new DatabaseUnavailable(`PostgreSQL is not available${describeCause(error, code)}`, { cause: error })
    : error;
}

/** Uses the server's message if there is one: few operators know what 28P01 means. */
function describeCause(error: unknown, code: string): string {
  const words = error instanceof Error ? error.message.trim().replaceAll(/\s*\n\s*/g, " ") : "";
  if (words === "") return ` (${code})`;
  return words.includes(code) ? `: ${words}` : `: ${words} (${code})`;
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}
