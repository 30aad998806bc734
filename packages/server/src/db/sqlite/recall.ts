import { constants, type DatabaseSync } from "node:sqlite";
import type { Database } from "../database.ts";
import { callKey, type Statement } from "../statement.ts";
import { type Connection, guardEngine } from "./connection.ts";

const mostAnswers = 10_000;

type AnyStatement = Statement<object, unknown>;
type Read = (connection: Connection, statement: AnyStatement, params: object) => unknown;

/** Stands for every table. */
export const anyTable = "*";

export interface Recall extends Pick<Database, "recall" | "recallAll"> {
  /** Call it when these tables have changed, before anyone is notified. Empties the set. */
  forget(changed: Set<string>): void;
}

interface Remembered {
  answers: Map<string, Promise<unknown>>;
  reads: readonly string[];
}

/** Caches reads until this process changes one of their tables, or another process changes anything. */
export function createRecall(snapshot: Snapshot, findTables: (sql: string) => Tables): Recall {
  const remembered = new Map<object, Remembered>();
  let asOf = 0;
  let count = 0;

  function forgetAll(): void {
    for (const { answers } of remembered.values()) answers.clear();
    count = 0;
  }

  function forget(changed: Set<string>): void {
    if (changed.size === 0) return;
    for (const { answers, reads } of remembered.values()) {
      if (answers.size === 0 || !(changed.has(anyTable) || reads.some((table) => changed.has(table))))
        continue;
      count -= answers.size;
      answers.clear();
    }
    changed.clear();
  }

  function answersOf(statement: AnyStatement): Map<string, Promise<unknown>> {
    const revision = snapshot.revision();
    if (revision !== asOf || count >= mostAnswers) forgetAll();
    asOf = revision;
    let known = remembered.get(statement);
    if (known === undefined) {
      known = { answers: new Map(), reads: findTables(statement.compile("sqlite").sql).reads };
      remembered.set(statement, known);
    }
    return known.answers;
  }

  // Promises are kept instead of rows, because creating one per call costs more than finding the row.
  const recallBy = (read: Read) => (statement: AnyStatement, params: object) => {
    try {
      const answers = answersOf(statement);
      const key = callKey(statement.compile("sqlite"), params);
      const known = answers.get(key);
      if (known !== undefined) return known;
      const row = read(snapshot.open(), statement, params);
      const answer = Promise.resolve(row);
      if (row !== null) {
        answers.set(key, answer);
        count++;
      }
      return answer;
    } catch (error) {
      return Promise.reject(error);
    }
  };

  return {
    forget,
    recall: recallBy((connection, ...call) => connection.get(...call)) as Database["recall"],
    recallAll: recallBy((connection, ...call) => connection.all(...call)) as Database["recallAll"],
  };
}

/** Tables that a statement reads and changes, including through triggers and foreign keys. */
interface Tables {
  reads: readonly string[];
  changes: readonly string[];
}

const changing: number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

/** Asks the engine on a separate connection, because that makes a connection prepare all its statements again. */
export function createTableFinder(database: DatabaseSync): (sql: string) => Tables {
  let [reads, changes] = [new Set<string>(), new Set<string>()];
  database.setAuthorizer((action, table) => {
    if (table !== null && action === constants.SQLITE_READ) reads.add(table);
    if (table !== null && changing.includes(action)) changes.add(table);
    return constants.SQLITE_OK;
  });
  return (sql) => {
    [reads, changes] = [new Set(), new Set()];
    database.prepare(sql);
    return { reads: [...reads], changes: [...changes] };
  };
}

export interface Snapshot {
  /** A connection that sees only what is durable. */
  open(): Connection;
  /** Changes when another process has changed anything; never ahead of what `open` shows. */
  revision(): number;
  end(): void;
}

/**
 * All reads in one turn of the event loop use one snapshot, because taking and releasing the file's locks costs as much
 * as reading a row. The writer's own cache is warm, while another connection would have to re-read every page that a
 * commit has touched; but during a transaction its changes must not be visible to others.
 */
export function createSnapshot(writer: Connection, reader: Connection): Snapshot {
  const dataVersion = writer.database.prepare("PRAGMA data_version");
  dataVersion.setReturnArrays(true);
  let isOpen = false;
  let isPlanned = false;
  let revision: number | null = null;

  function end(): void {
    revision = null;
    if (!isOpen) return;
    isOpen = false;
    try {
      writer.steps.commit.run();
    } catch {
      // A failed read has ended the transaction or left it to be rolled back; there is nothing to keep.
      if (writer.database.isTransaction) writer.database.exec("ROLLBACK");
    }
  }

  function endAfterThisTurn(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      end();
    });
  }

  function findRevision(): number {
    if (revision === null) {
      [revision] = guardEngine(() => dataVersion.get() as unknown as [number]);
      endAfterThisTurn();
    }
    return revision;
  }

  return {
    open() {
      if (isOpen) return writer;
      if (writer.database.isTransaction) return reader;
      // Read later, it could include a change that another process made after this snapshot.
      findRevision();
      writer.steps.beginReading.run();
      isOpen = true;
      endAfterThisTurn();
      return writer;
    },
    revision: findRevision,
    end,
  };
}
