import { chmodSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { StorageFull } from "../../kernel/errors.ts";
import { DatabaseReadOnly, DatabaseUnavailable, UniqueViolation } from "../database.ts";
import type { Statement } from "../statement.ts";

export interface Connection {
  database: DatabaseSync;
  /** The statements of every transaction, prepared, because parsing them costs more than running them. */
  steps: Record<"begin" | "beginReading" | "commit" | "save" | "release", StatementSync>;
  /** The tables changed by its statements since the last check. */
  changed: Set<string>;
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row[];
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row | null;
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): number;
  /** Whether a statement has met a page that makes no sense. */
  isDamaged(): boolean;
  /** Whether a statement changes tables; known once it has run. */
  isChanging(statement: object): boolean;
}

/** Returns the tables that a statement changes. */
type FindChanges = (sql: string) => readonly string[];

export function openConnection(path: string, findChanges: FindChanges = () => []): Connection {
  const database = new DatabaseSync(path, { timeout: 5000 });
  // With pages of 4 KiB instead of 8, an upload of 10 KiB costs 5% more.
  database.exec(`
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16000;
  `);
  if (path !== ":memory:") chmodSync(path, 0o600);
  const prepared = new Map<object, Prepared>();
  const changed = new Set<string>();
  let isDamaged = false;

  function guard<T>(call: () => T): T {
    try {
      return guardEngine(call);
    } catch (error) {
      isDamaged ||= error instanceof DatabaseDamaged;
      throw error;
    }
  }

  function prepare(statement: Statement<object, unknown>): Prepared {
    let ready = prepared.get(statement);
    if (ready === undefined) {
      ready = prepareStatement(database, statement, findChanges);
      prepared.set(statement, ready);
    }
    for (const table of ready.changes) changed.add(table);
    return ready;
  }

  return {
    database,
    changed,
    steps: {
      begin: database.prepare("BEGIN IMMEDIATE"),
      beginReading: database.prepare("BEGIN"),
      commit: database.prepare("COMMIT"),
      save: database.prepare("SAVEPOINT job"),
      release: database.prepare("RELEASE job"),
    },
    all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params) {
      const ready = prepare(statement);
      const rows = guard(() => readAll(ready, ready.bind(params)));
      return rows.map(ready.toRow) as Row[];
    },
    get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params) {
      const ready = prepare(statement);
      const values = guard(() => readFirst(ready, ready.bind(params)));
      return values === undefined ? null : (ready.toRow(values) as Row);
    },
    run(statement, params) {
      const { run, bind } = prepare(statement);
      return guard(() => Number(run.run(...bind(params)).changes));
    },
    isDamaged: () => isDamaged,
    isChanging: (statement) => (prepared.get(statement)?.changes.length ?? 0) > 0,
  };
}

interface Prepared {
  run: StatementSync;
  bind: (params: object) => SQLInputValue[];
  toRow: (values: unknown[]) => object;
  changes: readonly string[];
}

/** Rows arrive as arrays and become objects here, which takes half as long as having the engine build objects. */
function prepareStatement(
  database: DatabaseSync,
  statement: Statement<object, unknown>,
  findChanges: FindChanges,
): Prepared {
  const { sql, bind } = statement.compile("sqlite");
  const run = database.prepare(sql);
  run.setReturnArrays(true);
  return {
    run,
    bind: bind as Prepared["bind"],
    toRow: compileRow(run.columns().map((column) => column.name)),
    changes: findChanges(sql),
  };
}

type Values = unknown[];

function readAll(ready: Prepared, params: SQLInputValue[]): Values[] {
  const read = () => ready.run.all(...params) as unknown as Values[];
  try {
    return read();
  } catch (error) {
    return readWide(ready, error, read).map(toNumbers);
  }
}

function readFirst(ready: Prepared, params: SQLInputValue[]): Values | undefined {
  const read = () => ready.run.get(...params) as unknown as Values | undefined;
  try {
    return read();
  } catch (error) {
    const values = readWide(ready, error, read);
    return values && toNumbers(values);
  }
}

/** A total too large for a number, from files of absurd sizes, must not break reading the rest. */
function readWide<T>({ run, changes }: Prepared, error: unknown, read: () => T): T {
  // A changing statement has already changed its rows.
  if ((error as NodeJS.ErrnoException).code !== "ERR_OUT_OF_RANGE" || changes.length > 0) throw error;
  run.setReadBigInts(true);
  try {
    return read();
  } finally {
    run.setReadBigInts(false);
  }
}

/** The nearest number that is exact. */
function toNumbers(values: Values): Values {
  const most = Number.MAX_SAFE_INTEGER;
  return values.map((value) =>
    typeof value === "bigint" ? Math.max(-most, Math.min(most, Number(value))) : value,
  );
}

/** Generated code that builds objects of one shape: adding properties one by one costs more than the query. */
function compileRow(names: string[]): Prepared["toRow"] {
  const fields = names.map((name, i) => `${JSON.stringify(name)}: values[${i}]`);
  return new Function("values", `return { ${fields.join(", ")} }`) as Prepared["toRow"];
}

/** Another process is writing. */
export class DatabaseBusy extends DatabaseUnavailable {}

/** Until the file is replaced, some requests will fail whatever is tried. */
export class DatabaseDamaged extends DatabaseUnavailable {
  constructor(cause?: unknown) {
    super("the database file is damaged; restore the last backup", { cause });
  }
}

/** SQLite result codes that indicate a problem with the engine, not the statement. */
const engineTrouble = new Map([
  [10, "the database cannot read or write its files"],
  [14, "the database file cannot be opened"],
]);
const damaged = [11, 26];
const busy = 5;
const diskFull = 13;
const uniqueViolations = [1555, 2067];
/** The only triggers are those that reject changes. */
const refusedByTrigger = 1811;

export function guardEngine<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const code = (error as { errcode?: number }).errcode;
    if (code === undefined) throw error;
    if (uniqueViolations.includes(code)) throw new UniqueViolation("the value is taken", { cause: error });
    if (code === refusedByTrigger) throw new DatabaseReadOnly("the database is read-only", { cause: error });
    const primary = code & 0xff;
    if (primary === diskFull)
      throw new StorageFull("the disk that holds the database is full", { cause: error });
    if (primary === busy) throw new DatabaseBusy("the database is busy", { cause: error });
    if (damaged.includes(primary)) throw new DatabaseDamaged(error);
    const trouble = engineTrouble.get(primary);
    if (trouble !== undefined) throw new DatabaseUnavailable(trouble, { cause: error });
    throw error;
  }
}
