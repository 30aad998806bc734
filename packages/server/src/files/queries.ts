import type { Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { FileRow, Schema } from "../db/schema.ts";
import { type DialectName, isOneOf, type Statement, statement } from "../db/statement.ts";
import { ended, notEnded } from "./life.ts";
import { contains, containsExactly, startsExactlyWith, startsWith } from "./look-through.ts";
import type { NamedFile } from "./serialize.ts";

/** A key is never an id, because keys contain slashes. */
export const isNamed = (p: NamedFile) => sql<boolean>`${p.key} in (key, id)`;

export interface Scope {
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
  "expires_at",
  "claim_by",
  "detected_type",
  "scan",
] as const;
export type ListedFile = Pick<FileRow, (typeof listedColumns)[number]>;

export const listFileRows = statement((q, p: Scope & { before: string; take: number; now: number }) =>
  q
    .selectFrom("file")
    .select(listedColumns)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    // A literal, not a parameter: it has to match the condition of the index that gives every page the same cost.
    .where(sql<boolean>`status <> 'DELETED'`)
    .where("id", "<", p.before)
    .where(notEnded(p.now))
    .orderBy("id", "desc")
    .limit(p.take),
);

export const namedFile = (q: QueryCreator<Schema>, p: Scope & NamedFile & { now: number }) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("id", "=", p.id)
    .where(isNamed(p))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .where(notEnded(p.now));

export const findFile = statement(namedFile);

export const deletedColumns = [
  "id",
  "key",
  "name",
  "size_bytes",
  "etag",
  "reserved_period",
  "store",
  "stored_apart",
  "upload_id",
  "purge_at",
] as const;

export type Named = Scope & { idsJson: string; namesJson: string; now: number };

/** `namesJson` has keys and ids, `idsJson` the id in each of them. */
export const areNamed = (p: Named, dialect: DialectName) =>
  sql<boolean>`${isOneOf(dialect, "id", p.idsJson)}
    and (${isOneOf(dialect, "key", p.namesJson)} or ${isOneOf(dialect, "id", p.namesJson)})
    and project_id = ${p.projectId} and environment = ${p.environment}`;

/** Confirmed files go to the trash if their project has one, and all their links end. */
const deletion = (now: number) => {
  const trashDays = sql`(select trash_days from project where project.id = file.project_id)`;
  return {
    status: "DELETED" as const,
    updated_at: now,
    purge_at: sql<number>`case when status = 'UPLOADED' and ${trashDays} > 0
      then cast(${now} as bigint) + ${trashDays} * 86400000 end`,
    links_revoked_at: sql<number>`case when links_revoked_at < ${now} then ${now} else links_revoked_at end`,
  };
};

/** Any number of files in one statement. Returned rows still contain what was counted for each. */
export const deleteFileRows = statement((q, p: Named, dialect) =>
  q
    .updateTable("file")
    .set(deletion(p.now))
    .where(areNamed(p, dialect))
    .where("status", "<>", "DELETED")
    .where(notEnded(p.now))
    .returning(deletedColumns),
);

/** Those in the trash as well, and without it. */
export const purgeFileRows = statement((q, p: Named, dialect) =>
  q
    .updateTable("file")
    .set({ status: "DELETED", updated_at: p.now, purge_at: null })
    .where(areNamed(p, dialect))
    .where(sql<boolean>`(status <> 'DELETED' or purge_at is not null)`)
    .returning(deletedColumns),
);

/** Files whose end has come, from any project. */
export const listEndedFiles = statement((q, p: { now: number; take: number }) => {
  // Literals, and one column each, to match the indexes of files that have an end.
  const endedBy = (column: "expires_at" | "claim_by") =>
    q
      .selectFrom((from) =>
        from
          .selectFrom("file")
          .select(["id", "project_id", "environment"])
          .where(column, "<=", p.now)
          .where(sql<boolean>`status <> 'DELETED'`)
          .orderBy(column)
          .limit(p.take)
          .as(column),
      )
      .selectAll();
  return endedBy("expires_at").union(endedBy("claim_by")).limit(p.take);
});

type Listed = Scope & { idsJson: string; now: number };

/** Guarded by the end, so that a file that was claimed or kept in the meantime stays. */
export const deleteEndedRows = statement((q, p: Listed, dialect) =>
  q
    .updateTable("file")
    .set(deletion(p.now))
    .where(isOneOf(dialect, "id", p.idsJson))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .where(ended(p.now))
    .returning([...deletedColumns, "expires_at"]),
);

/** Claims the files that wait for it. */
export const claimFileRows = statement((q, p: Named, dialect) =>
  q
    .updateTable("file")
    .set({ claim_by: null, updated_at: p.now })
    .where(areNamed(p, dialect))
    .where("status", "=", "UPLOADED")
    .where(notEnded(p.now))
    .where("claim_by", "is not", null)
    .returning(["id", "key", "name"]),
);

// bounded: by the names
export const listClaimed = statement((q, p: Named, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "key"])
    .where(areNamed(p, dialect))
    .where("status", "=", "UPLOADED")
    .where(notEnded(p.now))
    .where("claim_by", "is", null),
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
}

type SearchParams = IdStretch & Required<Omit<Terms, "only">> & { take: number };
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
const measuring = (kind: Kind, bytes: RawBuilder<number>) =>
  statement((q, p: IdStretch & { rows: number }) =>
    q
      .selectFrom(
        filesOf(q, p, kind)
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
const measuresOf = (kind: Kind) => ({
  rows: measuring(kind, byRows),
  metadata: measuring(kind, byMetadata),
});
const measures = {
  listed: measuresOf("listed"),
  failed: measuresOf("failed"),
  trashed: measuresOf("trashed"),
};

/** Names and types are short enough for the limit on rows to bound their bytes too. */
export function measureBy(given: Terms, withMetadata: boolean) {
  const { rows, metadata } = measures[given.only ?? "listed"];
  return withMetadata || readsMetadata(given) ? metadata : rows;
}

/** `metadata` is empty and what is known of images null if they were not requested. */
export type FoundFile = ListedFile & Pick<FileRow, "store" | "metadata" | "image" | "facts_due_at">;
type Found<Params, Row> = Statement<IdStretch & Terms & Params, Row>;
type Search = Found<{ take: number }, FoundFile>;
const searches = new Map<string, Search>();
const counts = new Map<string, Found<object, Sum>>();

/** One statement per set of terms: testing every row for terms that were not given is far slower. */
export function searchBy(given: Terms, withMetadata: boolean, withImage = false): Search {
  const metadata = withMetadata ? sql<string>`metadata` : sql<string>`''`;
  const image = withImage ? sql<string | null>`image` : sql<string | null>`cast(null as text)`;
  const due = withImage ? sql<number | null>`facts_due_at` : sql<number | null>`cast(null as bigint)`;
  return remember(searches, given, `${withMetadata} ${withImage}`, (used, kind) =>
    statement((q, p: SearchParams, dialect) =>
      matching(q, p, dialect, used, kind)
        .select([
          ...listedColumns,
          "store",
          metadata.as("metadata"),
          image.as("image"),
          due.as("facts_due_at"),
        ])
        .orderBy("id", "desc")
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
