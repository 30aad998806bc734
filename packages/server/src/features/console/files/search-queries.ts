import type { Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { FileTable, Schema } from "../../../db/schema.ts";
import { type DialectName, type Statement, statement } from "../../../db/statement.ts";
import { contains, startsWith } from "../search/text-match.ts";

export interface Stretch {
  projectId: string;
  environment: Environment;
  /** Ids from this one on … */
  from: string;
  /** … and smaller than this one. */
  before: string;
}

/** What files are searched by. Texts are in lower case. */
export interface Terms {
  status?: string;
  routeSlug?: string;
  typeStart?: string;
  nameText?: string;
  metadataText?: string;
  /** A name with its quotes and colon: few files match, and the pairs below are only tried for those. */
  pairName?: string;
  /** The three ways a pair can appear in JSON: as text, and before "," or "}". */
  pairAsText?: string;
  pairBeforeComma?: string;
  pairBeforeBrace?: string;
  /** The "=" may also be part of the text itself. */
  pairAnywhere?: string;
}

type Term = "status" | "routeSlug" | "typeStart" | "nameText" | "metadataText" | "pairName";
type SearchParams = Stretch & Required<Terms> & { take: number };

/** Cheap ones first: rows they exclude are not read as text. */
const conditions: Record<Term, (p: SearchParams, dialect: DialectName) => RawBuilder<boolean>> = {
  status: (p) => sql`status = ${p.status}`,
  routeSlug: (p) => sql`route_slug = ${p.routeSlug}`,
  typeStart: (p, dialect) => startsWith(dialect, "type", p.typeStart),
  nameText: (p, dialect) => contains(dialect, "name", p.nameText),
  metadataText: (p, dialect) => contains(dialect, "metadata", p.metadataText),
  pairName: (p, dialect) =>
    sql`(${contains(dialect, "metadata", p.pairName)}
      and (${contains(dialect, "metadata", p.pairAsText)}
      or ${contains(dialect, "metadata", p.pairBeforeComma)}
      or ${contains(dialect, "metadata", p.pairBeforeBrace)})
      or ${contains(dialect, "metadata", p.pairAnywhere)})`,
};
const terms = Object.keys(conditions) as Term[];

// Written out, not bound: it has to match the condition of the index that lists files.
const isThere = sql<boolean>`status <> 'DELETED'`;

const filesOf = (q: QueryCreator<Schema>, p: Stretch) =>
  q
    .selectFrom("file")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(isThere)
    .where("id", "<", p.before)
    .where("id", ">=", p.from);

/** Length alone: neither engine loads the text for it. */
const measuring = (bytes: RawBuilder<number>) =>
  statement((q, p: Stretch & { rows: number }) =>
    q
      .selectFrom(
        filesOf(q, p)
          .select(["id", bytes.as("bytes")])
          .orderBy("id", "desc")
          .limit(p.rows)
          .as("newest"),
      )
      .select([
        sql<string | null>`min(id)`.as("id"),
        sql<number>`count(*)`.as("count"),
        sql<number>`coalesce(sum(bytes), 0)`.as("bytes"),
      ]),
  );

const measureRows = measuring(sql<number>`0`);
const measureMetadata = measuring(sql<number>`octet_length(metadata)`);

/** Names and types are short enough for the limit on rows to bound their bytes too. */
export function measureBy(given: Terms) {
  return given.metadataText === undefined && given.pairName === undefined ? measureRows : measureMetadata;
}

type Found<Params, Row> = Statement<Stretch & Terms & Params, Row>;
const searches = new Map<string, Found<{ take: number }, FileTable>>();
const counts = new Map<string, Found<object, { count: number }>>();

/** One statement per set of terms: testing every row for terms that were not given is far slower. */
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
  return used.reduce((query, term) => query.where(conditions[term](p, dialect)), filesOf(q, p));
}

/** A term that was not given appears in no statement, so none needs its value. */
function remember<Kept>(kept: Map<string, Kept>, given: Terms, build: (used: Term[]) => unknown): Kept {
  const used = terms.filter((term) => given[term] !== undefined);
  const name = used.join();
  const known = kept.get(name) ?? (build(used) as Kept);
  kept.set(name, known);
  return known;
}
