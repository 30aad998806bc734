import type { Access, Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import { isOneOf } from "../db/expressions.ts";
import type { FileRow, Schema } from "../db/schema.ts";
import { type DialectName, type Statement, statement } from "../db/statement.ts";
import { contains, containsExactly, startsExactlyWith, startsWith } from "./look-through.ts";
import type { NamedFile } from "./serialize.ts";

/** A key is never an id, because keys contain slashes. */
const isNamed = (p: NamedFile) => sql<boolean>`${p.key} in (key, id)`;

interface Scope {
  projectId: string;
  environment: Environment;
}

/** For a page of 100 rows, reading unused columns would be half the cost. */
export const listedColumns = [
  "id",
  "key",
  "name",
  "size_bytes",
  "type",
  "status",
  "sha256",
  "created_at",
  "access",
  "audience",
] as const;
export type ListedFile = Pick<FileRow, (typeof listedColumns)[number]>;

export const listFileRows = statement((q, p: Scope & { before: string; take: number }) =>
  q
    .selectFrom("file")
    .select(listedColumns)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    // A literal, not a parameter: it has to match the condition of the index that gives every page the same cost.
    .where(sql<boolean>`status <> 'DELETED'`)
    .where("id", "<", p.before)
    .orderBy("id", "desc")
    .limit(p.take),
);

export const findFile = statement((q, p: Scope & NamedFile) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("id", "=", p.id)
    .where(isNamed(p))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED"),
);

/** Null leaves a column as it is. */
export interface FileChanges {
  name: string | null;
  metadata: string | null;
  access: Access | null;
  /** 1 where `audience` replaces what is there, even by nothing. */
  setsAudience: 0 | 1;
  audience: string | null;
}

export const updateFile = statement((q, p: Scope & NamedFile & FileChanges & { now: number }) =>
  q
    .updateTable("file")
    .set({
      name: sql`coalesce(${p.name}, name)`,
      metadata: sql`coalesce(${p.metadata}, metadata)`,
      access: sql`coalesce(${p.access}, access)`,
      audience: sql`case when cast(${p.setsAudience} as bigint) = 1 then cast(${p.audience} as text) else audience end`,
      updated_at: p.now,
    })
    .where("id", "=", p.id)
    .where(isNamed(p))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .returningAll(),
);

/**
 * Any number of files in one statement. Returned rows still contain what was counted for each. `namesJson` has keys and
 * ids, `idsJson` the id in each of them.
 */
export const deleteFileRows = statement(
  (q, p: Scope & { idsJson: string; namesJson: string; now: number }, dialect) =>
    q
      .updateTable("file")
      .set({ status: "DELETED", updated_at: p.now })
      .where(isOneOf(dialect, "id", p.idsJson))
      .where((e) => e.or([isOneOf(dialect, "key", p.namesJson), isOneOf(dialect, "id", p.namesJson)]))
      .where("project_id", "=", p.projectId)
      .where("environment", "=", p.environment)
      .where("status", "<>", "DELETED")
      .returning([
        "id",
        "key",
        "name",
        "size_bytes",
        "etag",
        "reserved_period",
        "store",
        "stored_apart",
        "upload_id",
      ]),
);

export const deleteVariantsOfFiles = statement((q, p: { fileIdsJson: string }, dialect) =>
  q
    .deleteFrom("variant")
    .where(isOneOf(dialect, "file_id", p.fileIdsJson))
    .returning(["store", "store_key"]),
);

export interface IdStretch {
  projectId: string;
  environment: Environment;
  /** Ids from this one on … */
  from: string;
  /** … and smaller than this one. */
  before: string;
}

/** What the database tests on a file. Texts are in lower case unless stated otherwise. */
export interface Terms {
  /** These have their own index, so that only they are read. */
  isFailed?: true;
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
}

type SearchParams = IdStretch & Required<Terms> & { take: number };
type Condition = (p: SearchParams, dialect: DialectName) => RawBuilder<boolean>;

/** Cheap ones first: rows they exclude are not read as text. */
const conditions = {
  status: (p) => sql`status = ${p.status}`,
  routeSlug: (p) => sql`route_slug = ${p.routeSlug}`,
  access: (p) => sql`access = ${p.access}`,
  typeStart: (p, dialect) => startsWith(dialect, "type", p.typeStart),
  keyStart: (p, dialect) => startsExactlyWith(dialect, "key", p.keyStart),
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

const filesOf = (q: QueryCreator<Schema>, p: IdStretch, isFailed: boolean) =>
  q
    .selectFrom("file")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    // A literal, not a parameter: it has to match the condition of the index that lists such files.
    .where(isFailed ? sql<boolean>`status = 'FAILED'` : sql<boolean>`status <> 'DELETED'`)
    .where("id", "<", p.before)
    .where("id", ">=", p.from);

/** Length alone: neither engine loads the text for it. */
const measuring = (isFailed: boolean, bytes: RawBuilder<number>) =>
  statement((q, p: IdStretch & { rows: number }) =>
    q
      .selectFrom(
        filesOf(q, p, isFailed)
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

const byRows = sql<number>`0`;
const byMetadata = sql<number>`octet_length(metadata)`;
const measures = {
  listed: { rows: measuring(false, byRows), metadata: measuring(false, byMetadata) },
  failed: { rows: measuring(true, byRows), metadata: measuring(true, byMetadata) },
};

/** Names and types are short enough for the limit on rows to bound their bytes too. */
export function measureBy(given: Terms, withMetadata: boolean) {
  const { rows, metadata } = measures[given.isFailed ? "failed" : "listed"];
  return withMetadata || readsMetadata(given) ? metadata : rows;
}

/** `metadata` is empty if it was not requested. */
export type FoundFile = ListedFile & Pick<FileRow, "store" | "metadata">;
type Found<Params, Row> = Statement<IdStretch & Terms & Params, Row>;
const searches = new Map<string, Found<{ take: number }, FoundFile>>();
const counts = new Map<string, Found<object, { count: number }>>();

/** One statement per set of terms: testing every row for terms that were not given is far slower. */
export function searchBy(given: Terms, withMetadata: boolean): Found<{ take: number }, FoundFile> {
  const metadata = withMetadata ? sql<string>`metadata` : sql<string>`''`;
  return remember(searches, given, String(withMetadata), (used, isFailed) =>
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used, isFailed)
        .select([...listedColumns, "store", metadata.as("metadata")])
        .orderBy("id", "desc")
        .limit(p.take),
    ),
  );
}

export function countBy(given: Terms): Found<object, { count: number }> {
  return remember(counts, given, "", (used, isFailed) =>
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used, isFailed).select(sql<number>`count(*)`.as("count")),
    ),
  );
}

function matching(
  q: QueryCreator<Schema>,
  p: SearchParams,
  dialect: DialectName,
  used: Term[],
  isFailed: boolean,
) {
  return used.reduce((query, term) => query.where(conditions[term](p, dialect)), filesOf(q, p, isFailed));
}

/** A term that was not given appears in no statement, so none needs its value. */
function remember<Kept>(
  kept: Map<string, Kept>,
  given: Terms,
  kind: string,
  build: (used: Term[], isFailed: boolean) => unknown,
): Kept {
  const used = listTests(given);
  const isFailed = given.isFailed === true;
  const name = [kind, isFailed, ...used].join();
  const known = kept.get(name) ?? (build(used, isFailed) as Kept);
  kept.set(name, known);
  return known;
}
