import {
  type Compilable,
  type DefaultQueryCompiler,
  DummyDriver,
  Kysely,
  type LimitNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCreator,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  ValueNode,
} from "#kysely";
import type { Schema } from "./schema.ts";

export type DialectName = "sqlite" | "postgres";

/** SQL text, and how to bind its parameters from a call's named values. */
export interface CompiledStatement {
  readonly sql: string;
  bind(params: object): unknown[];
}

/** A query that is compiled once per dialect, because building SQL costs more than running it. */
export interface Statement<Params, Row> {
  compile(dialect: DialectName): CompiledStatement;
  /** Carries the types; never set. */
  readonly types?: { params: Params; row: Row };
}

/** Distinguishes calls of one statement by their parameters. Strings carry their length, because escaping costs more. */
export function callKey({ bind }: CompiledStatement, params: object): string {
  let key = "";
  for (const value of bind(params))
    key += typeof value === "string" ? `${value.length}:${value}` : `${JSON.stringify(value)};`;
  return key;
}

type Build<Params, Row> = (
  query: QueryCreator<Schema>,
  params: Params,
  dialect: DialectName,
) => Compilable<Row>;

/** Placeholder for a value passed with each call. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Constants are part of the text: less to send, and partial indexes can be used. */
function createCompiler(Dialect: new () => DefaultQueryCompiler): DefaultQueryCompiler {
  return new (class extends Dialect {
    protected override appendValue(value: unknown): void {
      if (value instanceof Parameter) super.appendValue(value);
      else this.appendImmediateValue(value);
    }
  })();
}

class SqliteCompiler extends SqliteQueryCompiler {
  /** With a plain parameter, SQLite would plan the statement again for each call, because a limit may change the plan. */
  protected override visitLimit({ limit }: LimitNode): void {
    const isParameter = ValueNode.is(limit) && limit.value instanceof Parameter;
    this.append(isParameter ? "limit cast(" : "limit ");
    this.visitNode(limit);
    if (isParameter) this.append(" as integer)");
  }
}

const anyParameters = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

const compilers: Record<DialectName, Kysely<Schema>> = {
  sqlite: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => createCompiler(SqliteCompiler),
    },
  }),
  postgres: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => createCompiler(PostgresQueryCompiler),
    },
  }),
};

export function statement<Params extends object, Row>(build: Build<Params, Row>): Statement<Params, Row> {
  const compiled: Partial<Record<DialectName, CompiledStatement>> = {};
  return {
    compile(dialect) {
      compiled[dialect] ??= compile(build, dialect);
      return compiled[dialect];
    },
  };
}

function compile<Params, Row>(build: Build<Params, Row>, dialect: DialectName): CompiledStatement {
  const { sql, parameters } = build(compilers[dialect], anyParameters as Params, dialect).compile();
  return { sql, bind: compileBind(sql, parameters) };
}

/** Generated code that reads exactly these names: looking them up one by one costs more than many queries. */
function compileBind(sql: string, parameters: readonly unknown[]): CompiledStatement["bind"] {
  const values = parameters.map((parameter) => {
    const name = JSON.stringify((parameter as Parameter).name);
    return `params[${name}] ?? given(params, ${name})`;
  });
  const given = (params: Record<string, unknown>, name: string) => {
    if (params[name] === undefined) throw new TypeError(`the statement needs a value for "${name}": ${sql}`);
    return params[name];
  };
  const build = new Function("given", `return (params) => [${values.join(", ")}]`);
  return build(given) as CompiledStatement["bind"];
}

/**
 * The database's own clock in epoch milliseconds: the only one that all instances share. It is constant within a
 * statement, so a condition used twice has the same result.
 */
export function databaseNow(dialect: DialectName): RawBuilder<number> {
  return dialect === "sqlite"
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`;
}

/** The end of a lease that is taken or extended now. */
export function leaseEnd(dialect: DialectName, leaseMs: number): RawBuilder<number> {
  return sql<number>`${databaseNow(dialect)} + cast(${leaseMs} as bigint)`;
}

/** A sum of sizes or counts, capped at JavaScript's largest safe integer, so that no further sum overflows. */
export function sumBytes(dialect: DialectName, column: string): RawBuilder<number> {
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  return dialect === "sqlite"
    ? sql<number>`cast(min(total(${sql.ref(column)}), ${most}) as integer)`
    : sql<number>`cast(least(coalesce(sum(${sql.ref(column)}), 0), ${most}) as bigint)`;
}

/**
 * Whether a column's text is in a JSON array passed as one parameter, so that one statement serves any number of
 * values. As an array, PostgreSQL looks each up in an index; with a subquery it would join the whole table, because
 * it cannot estimate how few there are.
 */
export function isOneOf(dialect: DialectName, column: string, jsonArray: string): RawBuilder<boolean> {
  return dialect === "sqlite"
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${jsonArray}))`
    : sql<boolean>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(cast(cast(${jsonArray} as text) as jsonb))))`;
}
