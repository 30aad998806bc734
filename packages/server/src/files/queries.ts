import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { isOneOf } from "../db/expressions.ts";
import type { FileTable } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import type { NamedFile } from "./name-file.ts";

/** No key is an id: keys have slashes. */
const isNamed = (p: NamedFile) => sql<boolean>`${p.key} in (key, id)`;

interface Scope {
  projectId: string;
  environment: Environment;
}

/** Of a page of a hundred rows, reading columns that nobody is shown would be half the cost. */
export const listedColumns = [
  "id",
  "key",
  "name",
  "size_bytes",
  "type",
  "status",
  "sha256",
  "created_at",
] as const;
export type ListedFile = Pick<FileTable, (typeof listedColumns)[number]>;

export const listFiles = statement((q, p: Scope & { before: string; take: number }) =>
  q
    .selectFrom("file")
    .select(listedColumns)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    // Written out, not bound: it has to match the condition of the index that makes every page cost the same.
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
}

export const updateFile = statement((q, p: Scope & NamedFile & FileChanges & { now: number }) =>
  q
    .updateTable("file")
    .set({
      name: sql`coalesce(${p.name}, name)`,
      metadata: sql`coalesce(${p.metadata}, metadata)`,
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
 * Any number of files in one statement. What was counted for each is still in the row it returns. `namesJson` holds keys
 * and ids, `idsJson` the id in each of them.
 */
export const deleteFiles = statement(
  (q, p: Scope & { idsJson: string; namesJson: string; now: number }, dialect) =>
    q
      .updateTable("file")
      .set({ status: "DELETED", updated_at: p.now })
      .where(isOneOf(dialect, "id", p.idsJson))
      .where((e) => e.or([isOneOf(dialect, "key", p.namesJson), isOneOf(dialect, "id", p.namesJson)]))
      .where("project_id", "=", p.projectId)
      .where("environment", "=", p.environment)
      .where("status", "<>", "DELETED")
      .returning(["id", "key", "name", "size_bytes", "etag", "reserved_period", "store", "upload_id"]),
);

export const deleteVariantsOfFiles = statement((q, p: { fileIdsJson: string }, dialect) =>
  q
    .deleteFrom("variant")
    .where(isOneOf(dialect, "file_id", p.fileIdsJson))
    .returning(["store", "store_key"]),
);
