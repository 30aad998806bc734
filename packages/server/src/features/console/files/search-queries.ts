import type { Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { FileTable, Schema } from "../../../db/schema.ts";
import { type DialectName, type Statement, statement } from "../../../db/statement.ts";

export interface Stretch {
  projectId: string;
  environment: Environment;
  /** Ids from this one on … */
  from: string;
  /** … and smaller than this one. */
  before: string;
}

/** What files are looked for by; all of it is text, patterns as `like` reads them with "!" as its escape. */
export interface Terms {
  status?: string;
  routeSlug?: string;
  typePattern?: string;
  namePattern?: string;
  metadataPattern?: string;
  /** A name and a value somewhere behind it: what few files match and the exact patterns need not be tried without. */
  pairPattern?: string;
  /** The three ways in which a pair can stand in JSON: as text, and in front of "," or "}". */
  pairPatternText?: string;
  pairPatternMiddle?: string;
  pairPatternLast?: string;
  /** A "=" may as well stand in the text that is looked for. */
  pairPatternAnywhere?: string;
}

type Term = "status" | "routeSlug" | "typePattern" | "namePattern" | "metadataPattern" | "pairPattern";
type SearchParams = Stretch & Required<Terms> & { take: number };

/** Cheap ones first: what they leave out is not read as text. */
const conditions: Record<Term, (p: SearchParams, dialect: DialectName) => RawBuilder<boolean>> = {
  status: (p) => sql`status = ${p.status}`,
  routeSlug: (p) => sql`route_slug = ${p.routeSlug}`,
  typePattern: (p, dialect) => matches(dialect, "type", p.typePattern),
  namePattern: (p, dialect) => matches(dialect, "name", p.namePattern),
  metadataPattern: (p, dialect) => matches(dialect, "metadata", p.metadataPattern),
  pairPattern: (p, dialect) =>
    sql`(${matches(dialect, "metadata", p.pairPattern)}
      and (${matches(dialect, "metadata", p.pairPatternText)}
      or ${matches(dialect, "metadata", p.pairPatternMiddle)}
      or ${matches(dialect, "metadata", p.pairPatternLast)})
      or ${matches(dialect, "metadata", p.pairPatternAnywhere)})`,
};
const terms = Object.keys(conditions) as Term[];

/** Both engines fold the letters A to Z and no others; of SQLite's `like` that is the nature. */
export function matches(dialect: DialectName, column: string, pattern: string): RawBuilder<boolean> {
  const text = dialect === "sqlite" ? sql.ref(column) : sql`lower(${sql.ref(column)})`;
  return sql<boolean>`${text} like ${pattern} escape '!'`;
}

// Written out, not bound: it has to match the condition of the index that lists files.
const isThere = sql<boolean>`status <> 'DELETED'`;

/** Where the stretch of so many files below an id ends; no row where fewer are left. */
export const findStretchEnd = statement((q, p: Stretch & { skip: number }) =>
  q
    .selectFrom("file")
    .select("id")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(isThere)
    .where("id", "<", p.before)
    .where("id", ">=", p.from)
    .orderBy("id", "desc")
    .limit(1)
    .offset(p.skip),
);

type Found<Params, Row> = Statement<Stretch & Terms & Params, Row>;
const searches = new Map<string, Found<{ take: number }, FileTable>>();
const counts = new Map<string, Found<object, { count: number }>>();

/** A statement of its own for every set of terms: one that asks of each row what was not asked for is far slower. */
export function searchBy(given: Terms): Found<{ take: number }, FileTable> {
  return remember(searches, given, (used) =>
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used).selectAll().orderBy("id", "desc").limit(p.take),
    ),
  );
}

export function countBy(given: Terms): Found<object, { count: number }> {
  return remember(counts, given, (used) =>
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used).select(sql<number>`count(*)`.as("count")),
    ),
  );
}

function matching(q: QueryCreator<Schema>, p: SearchParams, dialect: DialectName, used: Term[]) {
  return used.reduce(
    (query, term) => query.where(conditions[term](p, dialect)),
    q
      .selectFrom("file")
      .where("project_id", "=", p.projectId)
      .where("environment", "=", p.environment)
      .where(isThere)
      .where("id", "<", p.before)
      .where("id", ">=", p.from),
  );
}

/** A term that was not given stands in no statement, so none asks for its value. */
function remember<Kept>(kept: Map<string, Kept>, given: Terms, build: (used: Term[]) => unknown): Kept {
  const used = terms.filter((term) => given[term] !== undefined);
  const name = used.join();
  const known = kept.get(name) ?? (build(used) as Kept);
  kept.set(name, known);
  return known;
}
