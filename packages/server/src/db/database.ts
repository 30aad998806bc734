import type { DialectName, Statement } from "./statement.ts";

/** Runs queries: the database itself, or a transaction. */
export interface Queryable {
  readonly dialect: DialectName;
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>;
  /** The first row, or null. */
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | null>;
  /** Returns the number of rows changed. */
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): Promise<number>;
  /** See `withCommit`. Only transactions of a remote engine have it. */
  readonly atEnd?: (send: () => Promise<unknown>) => void;
}

/**
 * Ends a transaction with statements on rows that many others change too. They are sent with the commit, so those rows
 * are locked only while the engine works, not for a round trip, and not by a stalled instance. `send` sends all of them
 * at once; if one fails, nothing is committed. The result does not wait for theirs.
 */
export function withCommit(tx: Queryable, send: () => Promise<unknown>): Promise<unknown> {
  return tx.atEnd === undefined ? send() : Promise.resolve(tx.atEnd(send));
}

/**
 * One of the two engines. On the database itself `all` and `get` only read; statements that change rows, with
 * RETURNING or without, go through `run`, `change` or a transaction.
 */
export interface Database extends Queryable {
  /**
   * Like `get`, for a row that many requests read at the same time. The result is never older than the call, but one
   * read may serve several callers, and an earlier one is reused if the engine knows that nothing has changed.
   * Callers share the object and must not modify it.
   */
  recall<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | null>;
  /** The same for all rows of a short list. */
  recallAll<Params extends object, Row>(
    statement: Statement<Params, Row>,
    params: Params,
  ): Promise<readonly Row[]>;
  /** One changing statement with RETURNING, as its own transaction. */
  change<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>;
  /**
   * Runs `work` atomically and resolves once it is durable. `work` may only await its transaction: waiting for the
   * network or disk would block every other writer, and is rejected. It may run more than once.
   * Work in the same `lane` changes the same rows, and may share a transaction instead of waiting for them.
   */
  transact<T>(work: (tx: Queryable) => Promise<T>, lane?: string): Promise<T>;
  /** One transaction that may run whole scripts; only one process that shares the database runs one at a time. */
  migrate(work: (tx: Migrating) => Promise<void>): Promise<void>;
  /** Builds what is missing while others write to the tables. Absent where migrations build them. */
  buildIndexes?(definitions: readonly IndexDefinition[]): Promise<void>;
  /** Divides a table by the month of its ids, and adds the months to come. Absent where tables are not divided. */
  keepPartitions?(table: string, primaryKey: string[], now: number): Promise<void>;
  /** Drops the months in which every id is before this one; as few as none. Returns how many. */
  dropPartitions?(table: string, beforeId: string): Promise<number>;
  /** Notifies every instance; `message` is a few words at most. */
  notify(channel: string, message: string): Promise<void>;
  listen(channel: string, onMessage: (message: string) => void): Promise<void>;
  /** The state of its connections, if they are limited. */
  pool?(): Pool;
  /** Throws `DatabaseUnavailable` if the engine does not respond. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Pool {
  open: number;
  idle: number;
  most: number;
  /** Work that waits for a connection. */
  waiting: number;
}

/** Of a table that may be large. */
export interface IndexDefinition {
  name: string;
  /** `CREATE INDEX name ON …` */
  sql: string;
}

export interface Migrating extends Queryable {
  script(sql: string): Promise<void>;
}

export class DatabaseUnavailable extends Error {
  override readonly name: string = "DatabaseUnavailable";
}

/** Changes are not allowed while the installation is being moved: see `http/read-only`. */
export class DatabaseReadOnly extends DatabaseUnavailable {
  override readonly name = "DatabaseReadOnly";
}

/** A row with the same unique value already exists. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/** The database was used by a later version with migrations unknown to this one. */
export class NewerDatabase extends Error {
  override readonly name = "NewerDatabase";
}
