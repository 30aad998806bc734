import type { Environment } from "@upstow/contract";
import { type QueryCreator, sql } from "#kysely";
import type { FileRow, Schema } from "../db/schema.ts";
import { type DialectName, isOneOf, statement } from "../db/statement.ts";
import { ended, notEnded } from "./life.ts";
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

/** Not files that someone has restored meanwhile. */
export const purgeTrashedRows = statement((q, p: Named, dialect) =>
  q
    .updateTable("file")
    .set({ updated_at: p.now, purge_at: null })
    .where(areNamed(p, dialect))
    .where(sql<boolean>`purge_at is not null`)
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
