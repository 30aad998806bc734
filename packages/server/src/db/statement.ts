import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCreator,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Schema } from "./schema.ts";

export type DialectName = "sqlite" | "postgres";

/** SQL text and how to fill its parameters from a call's named values. */
export interface CompiledStatement {
  readonly sql: string;
  bind(params: object): unknown[];
}

/** A query written once. Building SQL costs more than running it, so that happens once per dialect. */
export interface Statement<Params, Row> {
  compile(dialect: DialectName): CompiledStatement;
  /** Carries the types; never set. */
  readonly types?: { params: Params; row: Row };
}

type Build<Params, Row> = (
  query: QueryCreator<Schema>,
  params: Params,
  dialect: DialectName,
) => Compilable<Row>;

/** Stands for a value that each call brings. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const anyParameters = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

const compilers: Record<DialectName, Kysely<Schema>> = {
  sqlite: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
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
  return {
    sql,
    bind(params) {
      const values = new Array<unknown>(parameters.length);
      for (let i = 0; i < parameters.length; i++) {
        const parameter = parameters[i];
        if (!(parameter instanceof Parameter)) {
          values[i] = parameter;
          continue;
        }
        const value = (params as Record<string, unknown>)[parameter.name];
        if (value === undefined)
          throw new TypeError(`the statement needs a value for "${parameter.name}": ${sql}`);
        values[i] = value;
      }
      return values;
    },
  };
}
