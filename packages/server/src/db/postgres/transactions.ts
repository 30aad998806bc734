import type { Queryable } from "../database.ts";
import { createLanes } from "../lanes.ts";
import type { Statement } from "../statement.ts";
import type { Connections, Send } from "./connections.ts";
import { isConflict, isConsequence, isLost, isOutdated, isRefused } from "./errors.ts";

type Work = (tx: Queryable) => Promise<unknown>;
type Outcome = PromiseSettledResult<unknown>;

const attemptsOnConflict = 5;
const mostTogether = () => 64;
/** The database works on a transaction while the service prepares the next; smaller ones would cost both more. */
const besideFrom = 10;

export interface Transactions {
  alone(work: Work): Promise<unknown>;
  together(lane: string, work: Work): Promise<unknown>;
}

/**
 * All uploads to a project change the same few rows, and would wait for each other's commits, one fsync after another.
 * Work in one lane shares a transaction instead. If some of it fails after a change, each job is run on its own.
 */
export function createTransactions(connections: Connections): Transactions {
  async function alone(work: Work): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await connections.lend((send) => inTransaction(send, work));
      } catch (error) {
        if (attempt < attemptsOnConflict && canBeDoneAgain(error)) continue;
        throw error;
      }
    }
  }

  async function asOne(works: Work[]): Promise<Outcome[] | null> {
    let isDirty = false;
    let failure: unknown;
    const onDirty = (error?: unknown) => {
      isDirty = true;
      failure ??= error;
    };
    try {
      return await connections.lend((send) =>
        inTransaction(
          send,
          async (tx) => {
            const outcomes = await Promise.allSettled(
              works.map(async (work) => {
                try {
                  return await work(tx);
                } catch (error) {
                  if (isDirty) throw new MemberFailed();
                  throw error;
                }
              }),
            );
            if (
              outcomes.some(
                (outcome) => outcome.status === "rejected" && outcome.reason instanceof MemberFailed,
              )
            )
              throw new MemberFailed();
            return outcomes;
          },
          onDirty,
        ),
      );
    } catch (error) {
      // After any other error the transaction may have been committed, so repeating it could apply it twice.
      if (error instanceof MemberFailed || canBeDoneAgain(error)) return null;
      if (error === failure && isRefused(error)) return null;
      throw error;
    }
  }

  const inLane = createLanes<Work, Outcome>(
    async (works) => {
      const outcomes = works.length > 1 ? await asOne(works) : null;
      return outcomes ?? Promise.allSettled(works.map(alone));
    },
    mostTogether,
    besideFrom,
  );

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

const canBeDoneAgain = (error: unknown) => isConflict(error) || isOutdated(error);

export async function inTransaction<T>(
  send: Send,
  work: (tx: Queryable) => Promise<T>,
  onDirty: (error?: unknown) => void = () => {},
): Promise<T> {
  let failure: unknown;
  const ends: (() => Promise<unknown>)[] = [];
  let hasEnded = false;
  // Statements that the work started but did not await would commit separately after a rollback.
  const sendWithin: Send = async (query) => {
    if (hasEnded) throw new Error("the transaction has ended");
    return send(query);
  };
  // Sent with the first statements of the work: waiting for it would keep the connection for another round trip.
  const begun = send({ text: "BEGIN" });
  begun.catch(() => {});
  try {
    const tx = queryable(sendWithin, (error) => {
      failure ??= error;
      onDirty(error);
    });
    const atEnd = (end: () => Promise<unknown>) => {
      // It is going to be sent, whatever becomes of the job.
      onDirty();
      ends.push(end);
    };
    const result = await work({ ...tx, atEnd });
    // Even if the work has caught the error: the server would turn COMMIT into a rollback.
    if (failure !== undefined) throw failure;
    const ended = Promise.all(
      ends.map(async (end) => {
        try {
          await end();
        } catch (error) {
          failure ??= error;
        }
      }),
    );
    if (ends.length > 0) await sentByNow();
    if (failure !== undefined) throw failure;
    hasEnded = true;
    await Promise.all([begun, send({ text: "COMMIT" })]);
    await ended;
    // COMMIT succeeds too when it rolls back.
    if (failure !== undefined) throw failure;
    return result;
  } catch (error) {
    hasEnded = true;
    if (isLost(failure)) throw failure;
    // Of statements sent together, the work may hear first of one after the cause.
    const cause = isConsequence(error) ? (failure ?? error) : error;
    // If this fails too, the connection is not reused.
    await send({ text: "ROLLBACK" }).catch(() => {});
    throw cause;
  }
}

/** Whatever started in this turn has sent its statements by then, because microtasks come before the next tick. */
function sentByNow(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * `onDirty`, for a transaction, is called with a statement that may change rows, when it is sent: its job can fail
 * before the result is here. It is called again with the error of one that failed, which makes the transaction unusable.
 */
export function queryable(send: Send, onDirty?: (error?: unknown) => void): Queryable {
  const ask = async <T>(
    statement: Statement<object, unknown>,
    params: object,
    take: (result: Result) => T,
  ): Promise<T> => {
    const { sql, bind } = statement.compile("postgres");
    const values = bind(params);
    const name = nameOf(sql);
    if (!sql.startsWith("select")) onDirty?.();
    try {
      return take(await send({ name, text: sql, values }));
    } catch (error) {
      onDirty?.(error);
      if (!isOutdated(error)) throw error;
      rename(sql, name);
      if (onDirty !== undefined) throw error;
      return ask(statement, params, take);
    }
  };
  return {
    dialect: "postgres",
    all: (statement, params) => ask(statement, params, allOf),
    get: (statement, params) => ask(statement, params, firstOf),
    run: (statement, params) => ask(statement, params, countOf),
  };
}

type Result = Awaited<ReturnType<Send>>;
const allOf = ({ rows }: Result) => rows;
const firstOf = ({ rows }: Result) => rows[0] ?? null;
const countOf = ({ rowCount }: Result) => rowCount ?? 0;

/** Statements are prepared under these names, once for each connection. */
const names = new Map<string, string>();
let lastName = 0;

function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `s${++lastName}`;
    names.set(sql, name);
  }
  return name;
}

/** Makes every connection prepare the statement again. */
function rename(sql: string, name: string): void {
  if (names.get(sql) === name) names.delete(sql);
}
