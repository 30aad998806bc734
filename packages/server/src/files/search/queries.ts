import type { Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { FileRow, Schema } from "../../db/schema.ts";
import { type DialectName, type Statement, statement } from "../../db/statement.ts";
import { notEnded } from "../life.ts";
import { contains, containsExactly, type Direction, startsExactlyWith, startsWith } from "../look-through.ts";
import { type ListedFile, listedColumns } from "../queries.ts";

export interface IdStretch {
  projectId: string;
  environment: Environment;
  /** Ids from this one on … */
  from: string;
  /** … and smaller than this one. */
  before: string;
  /** Files that have ended by then are left out. */
  now: number;
}

/** Filters evaluated by the database. Texts are in lower case unless stated otherwise. */
export interface Terms {
  /** These have their own indexes, so that only they are read. */
  only?: "failed" | "trashed";
  status?: string;
  routeSlug?: string;
  access?: string;
  typeStart?: string;
  /** Case-sensitive, including the project. */
  keyStart?: string;
  nameText?: string;
  /** A non-ASCII letter in upper and lower case. */
  nameLetter?: string;
  nameOtherLetter?: string;
  /** A name and value as stored: for a string, and for anything else. */
  textPair?: string;
  otherPair?: string;
  otherPairAtEnd?: string;
  metadataText?: string;
  /** A name with its quotes and colon: few files match, and the pairs below are only tried for those. */
  pairName?: string;
  /** The three ways a pair can appear in JSON: as text, and before "," or "}". */
  pairAsText?: string;
  pairBeforeComma?: string;
  pairBeforeBrace?: string;
  /** The "=" may also be part of the text itself. */
  pairAnywhere?: string;
  /** Only files whose name or size comes after another's, or before it; where these are equal, ids decide. */
  nameAfter?: string;
  sizeAfter?: number;
  idAfter?: string;
  nameBefore?: string;
  sizeBefore?: number;
  idBefore?: string;
}

type SearchParams = IdStretch & Required<Omit<Terms, "only">> & { take: number };
type Condition = (p: SearchParams, dialect: DialectName) => RawBuilder<boolean>;

/** Cheap ones first: rows they exclude are not read as text. */
const conditions = {
  sizeAfter: (p) => sql`(size_bytes, id) > (${p.sizeAfter}, ${p.idAfter})`,
  sizeBefore: (p) => sql`(size_bytes, id) < (${p.sizeBefore}, ${p.idBefore})`,
  status: (p) => sql`status = ${p.status}`,
  routeSlug: (p) => sql`route_slug = ${p.routeSlug}`,
  access: (p) => sql`access = ${p.access}`,
  typeStart: (p, dialect) => startsWith(dialect, "type", p.typeStart),
  keyStart: (p, dialect) => startsExactlyWith(dialect, "key", p.keyStart),
  nameAfter: (p) => sql`(lower(name), id) > (${p.nameAfter}, ${p.idAfter})`,
  nameBefore: (p) => sql`(lower(name), id) < (${p.nameBefore}, ${p.idBefore})`,
  nameText: (p, dialect) => contains(dialect, "name", p.nameText),
  nameLetter: (p, dialect) =>
    sql`(${containsExactly(dialect, "name", p.nameLetter)} or ${containsExactly(dialect, "name", p.nameOtherLetter)})`,
  textPair: (p, dialect) => containsExactly(dialect, "metadata", p.textPair),
  otherPair: (p, dialect) =>
    sql`(${containsExactly(dialect, "metadata", p.textPair)}
      or ${containsExactly(dialect, "metadata", p.otherPair)}
      or ${containsExactly(dialect, "metadata", p.otherPairAtEnd)})`,
  metadataText: (p, dialect) => contains(dialect, "metadata", p.metadataText),
  pairName: (p, dialect) =>
    sql`(${contains(dialect, "metadata", p.pairName)}
      and (${contains(dialect, "metadata", p.pairAsText)}
      or ${contains(dialect, "metadata", p.pairBeforeComma)}
      or ${contains(dialect, "metadata", p.pairBeforeBrace)})
      or ${contains(dialect, "metadata", p.pairAnywhere)})`,
} satisfies Record<string, Condition>;
type Term = keyof typeof conditions;
const terms = Object.keys(conditions) as Term[];

/** Terms that need more than an index. */
function listTests(given: Terms): Term[] {
  return terms.filter((term) => given[term] !== undefined && !(term === "textPair" && given.otherPair));
}

export function hasTests(given: Terms): boolean {
  return listTests(given).length > 0;
}

const readsMetadata = ({ textPair, metadataText, pairName }: Terms) =>
  (textPair ?? metadataText ?? pairName) !== undefined;

type Kind = "listed" | NonNullable<Terms["only"]>;

/** Literals, not parameters: they have to match the conditions of the indexes that list such files. */
const ofKind: Record<Kind, (p: IdStretch) => RawBuilder<boolean>> = {
  listed: ({ now }) => sql<boolean>`status <> 'DELETED' and ${notEnded(now)}`,
  failed: ({ now }) => sql<boolean>`status = 'FAILED' and ${notEnded(now)}`,
  trashed: ({ now }) => sql<boolean>`purge_at is not null and purge_at > ${now}`,
};

const filesOf = (q: QueryCreator<Schema>, p: IdStretch, kind: Kind) =>
  q
    .selectFrom("file")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where(ofKind[kind](p))
    .where("id", "<", p.before)
    .where("id", ">=", p.from);

/** Length alone: neither engine loads the text for it. */
const measuring = (kind: Kind, bytes: RawBuilder<number>, direction: Direction) =>
  statement((q, p: IdStretch & { rows: number }) =>
    q
      .selectFrom(
        filesOf(q, p, kind)
          .select(["id", bytes.as("bytes")])
          .orderBy("id", direction)
          .limit(p.rows)
          .as("first"),
      )
      .select([
        sql<string | null>`${sql.raw(direction === "desc" ? "min" : "max")}(id)`.as("id"),
        sql<number>`count(*)`.as("count"),
        sql<number>`coalesce(sum(bytes), 0)`.as("bytes"),
      ]),
  );

const byRows = sql<number>`0`;
const byMetadata = sql<number>`octet_length(metadata)`;
const measuresOf = (kind: Kind, direction: Direction) => ({
  rows: measuring(kind, byRows, direction),
  metadata: measuring(kind, byMetadata, direction),
});
const measuresIn = (direction: Direction) => ({
  listed: measuresOf("listed", direction),
  failed: measuresOf("failed", direction),
  trashed: measuresOf("trashed", direction),
});
const measures = { desc: measuresIn("desc"), asc: measuresIn("asc") };

/** Names and types are short enough for the limit on rows to bound their bytes too. */
export function measureBy(given: Terms, withMetadata: boolean, direction: Direction) {
  const { rows, metadata } = measures[direction][given.only ?? "listed"];
  return withMetadata || readsMetadata(given) ? metadata : rows;
}

/** `metadata` is empty and what is known of images null if they were not requested. */
export type FoundFile = ListedFile & Pick<FileRow, "store" | "metadata" | "image" | "facts_due_at">;
type Found<Params, Row> = Statement<IdStretch & Terms & Params, Row>;
type Search = Found<{ take: number }, FoundFile>;
const searches = new Map<string, Search>();
const counts = new Map<string, Found<object, Sum>>();

/** One statement per set of terms: testing every row for terms that were not given is far slower. */
export function searchBy(
  given: Terms,
  withMetadata: boolean,
  withImage = false,
  direction: Direction = "desc",
): Search {
  const metadata = withMetadata ? sql<string>`metadata` : sql<string>`''`;
  const image = withImage ? sql<string | null>`image` : sql<string | null>`cast(null as text)`;
  const due = withImage ? sql<number | null>`facts_due_at` : sql<number | null>`cast(null as bigint)`;
  return remember(searches, given, `${withMetadata} ${withImage} ${direction}`, (used, kind) =>
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used, kind)
        .select([
          ...listedColumns,
          "store",
          metadata.as("metadata"),
          image.as("image"),
          due.as("facts_due_at"),
        ])
        .orderBy("id", direction)
        .limit(p.take),
    ),
  );
}

interface Sum {
  count: number;
  /** As declared, stored or not. */
  bytes: number;
}

export function countBy(given: Terms): Found<object, Sum> {
  return remember(counts, given, "", (used, kind) =>
    // bounded: a stretch that has been measured
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used, kind).select([
        sql<number>`count(*)`.as("count"),
        sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`.as("bytes"),
      ]),
    ),
  );
}

/** How many files each route has in a stretch, and how large the uploaded ones are. */
// bounded: a stretch that has been measured
export const tallyRoutes = statement((q, p: IdStretch) =>
  filesOf(q, p, "listed")
    .select([
      "route_slug as slug",
      sql<number>`count(*)`.as("files"),
      sql<number>`cast(sum(case when status = 'UPLOADED' then size_bytes else 0 end) as bigint)`.as("bytes"),
    ])
    .groupBy("route_slug"),
);

function matching(q: QueryCreator<Schema>, p: SearchParams, dialect: DialectName, used: Term[], kind: Kind) {
  return used.reduce((query, term) => query.where(conditions[term](p, dialect)), filesOf(q, p, kind));
}

/** A term that was not given appears in no statement, so none needs its value. */
function remember<Kept>(
  kept: Map<string, Kept>,
  given: Terms,
  form: string,
  build: (used: Term[], kind: Kind) => unknown,
): Kept {
  const used = listTests(given);
  const kind = given.only ?? "listed";
  const name = [form, kind, ...used].join();
  const known = kept.get(name) ?? (build(used, kind) as Kept);
  kept.set(name, known);
  return known;
}
