import type { Queryable } from "../database.ts";
import type { CompiledStatement, Statement } from "../statement.ts";

type AnyStatement = Statement<object, unknown>;
/** Runs one statement and returns how many rows it changed. */
type Run = (statement: AnyStatement, params: object) => Promise<number>;

interface Waiting {
  rows: object[];
  sent: Promise<boolean>;
}

/**
 * The same insert by several jobs that share a transaction, sent at the same moment, goes out as one statement with
 * many rows: what the protocol costs for each statement is more than what a row costs. `conflict` is thrown if some
 * rows were left out, because it is not known whose.
 */
export function mergeInserts(tx: Queryable, onQueued: () => void, conflict: () => Error): Queryable {
  const waiting = new Map<AnyStatement, Waiting>();
  const run = tx.run as Run;

  async function sendAll(statement: AnyStatement, rows: object[]): Promise<boolean> {
    const counts = await Promise.all(
      inPowersOfTwo(rows).map((some) => run(repeated(statement, some.length), { rows: some })),
    );
    return counts.reduce((sum, count) => sum + count, 0) === rows.length;
  }

  async function insert(statement: AnyStatement, row: object): Promise<number> {
    let batch = waiting.get(statement);
    if (batch === undefined) {
      const rows: object[] = [];
      const sent = Promise.resolve().then(() => {
        waiting.delete(statement);
        return sendAll(statement, rows);
      });
      batch = { rows, sent };
      waiting.set(statement, batch);
    }
    batch.rows.push(row);
    onQueued();
    if (await batch.sent) return 1;
    if (batch.rows.length === 1) return 0;
    throw conflict();
  }

  const runMerged: Run = (statement, params) =>
    findTuple(statement) === null ? run(statement, params) : insert(statement, params);
  return { ...tx, run: runMerged as Queryable["run"] };
}

/** Few different lengths, because each is a statement that every connection prepares. */
function inPowersOfTwo(rows: object[]): object[][] {
  const parts: object[][] = [];
  for (let from = 0; from < rows.length; ) {
    const length = 2 ** Math.floor(Math.log2(rows.length - from));
    parts.push(rows.slice(from, from + length));
    from += length;
  }
  return parts;
}

interface Tuple {
  before: string;
  tuple: string;
  after: string;
  parameters: number;
}

const tuples = new WeakMap<AnyStatement, Tuple | null>();

/** The values of an insert that could be repeated; null for every other statement. */
function findTuple(statement: AnyStatement): Tuple | null {
  let found = tuples.get(statement);
  if (found === undefined) {
    found = readTuple(statement.compile("postgres").sql);
    tuples.set(statement, found);
  }
  return found;
}

/** The tuple is all that has parameters, and rows in conflict are left out instead of changed. */
const singleInsert =
  /^(?<before>insert into "\w+" \([^()]*\) values )(?<tuple>\(.*\))(?<after>(?: on conflict \([^()]*\) do nothing)?)$/s;

export function readTuple(sql: string): Tuple | null {
  const { before = "", tuple = "", after = "" } = singleInsert.exec(sql)?.groups ?? {};
  if (tuple === "" || / on conflict | returning /.test(tuple)) return null;
  return { before, tuple, after, parameters: tuple.match(/\$\d+/g)?.length ?? 0 };
}

const repetitions = new WeakMap<AnyStatement, Map<number, AnyStatement>>();

/** The statement for so many rows. */
function repeated(statement: AnyStatement, count: number): Statement<{ rows: object[] }, unknown> {
  let ofStatement = repetitions.get(statement);
  if (ofStatement === undefined) {
    ofStatement = new Map();
    repetitions.set(statement, ofStatement);
  }
  let made = ofStatement.get(count);
  if (made === undefined) {
    const compiled = repeat(statement, count);
    made = { compile: () => compiled };
    ofStatement.set(count, made);
  }
  return made as Statement<{ rows: object[] }, unknown>;
}

function repeat(statement: AnyStatement, count: number): CompiledStatement {
  const { sql, bind } = statement.compile("postgres");
  const found = findTuple(statement);
  if (found === null) throw new Error(`not an insert of one row: ${sql}`);
  const { before, tuple, after, parameters } = found;
  const shifted = (row: number) =>
    tuple.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + row * parameters}`);
  const rows = Array.from({ length: count }, (_, row) => shifted(row));
  return {
    sql: before + rows.join(", ") + after,
    bind: (params) => (params as { rows: object[] }).rows.flatMap((row) => bind(row)),
  };
}
