import type { DialectName, Statement } from "./statement.ts";

/** What queries run on: the database itself, or a transaction. */
export interface Queryable {
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>;
  /** The first row, or null. */
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | null>;
  /** Returns how many rows changed. */
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): Promise<number>;
}

/**
 * One of the two engines. On the database itself `all` and `get` only read; statements that change rows, with
 * RETURNING or without, go through `run`, `change` or a transaction.
 */
export interface Database extends Queryable {
  readonly dialect: DialectName;
  /**
   * As `get`, for a row that many requests read at the same time. The result is never older than the call, but one
   * read may serve several callers, and an earlier one is reused where the engine can tell that nothing has changed.
   * Callers share the object and must not change it.
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
   * Runs `work` atomically and resolves once it is durable. `work` awaits nothing but its transaction: a
   * network or disk wait in here would hold up every other writer, and is refused. It may run more than once.
   * Work of the same `lane` changes the same rows, and may share a transaction rather than wait for them.
   */
  transact<T>(work: (tx: Queryable) => Promise<T>, lane?: string): Promise<T>;
  /** One transaction, of one process at a time among all that share the database, that may run whole scripts. */
  migrate(work: (tx: Migrating) => Promise<void>): Promise<void>;
  /** Tells every instance that something happened; `message` is a few words at most. */
  notify(channel: string, message: string): Promise<void>;
  listen(channel: string, onMessage: (message: string) => void): Promise<void>;
  /** Throws `DatabaseUnavailable` when the engine does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface Migrating extends Queryable {
  script(sql: string): Promise<void>;
}

export class DatabaseUnavailable extends Error {
  override readonly name: string = "DatabaseUnavailable";
}

/** Nothing may be changed while the installation is moved elsewhere: see `http/read-only`. */
export class DatabaseReadOnly extends DatabaseUnavailable {
  override readonly name = "DatabaseReadOnly";
}

/** A row with the same unique value is already there. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/** The database was used by a later version, whose changes this one does not know. */
export class NewerDatabase extends Error {
  override readonly name = "NewerDatabase";
}
