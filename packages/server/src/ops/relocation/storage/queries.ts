import { PARTS_MAX } from "@upstow/contract";
import { type ExpressionBuilder, type QueryCreator, sql } from "#kysely";
import type { Schema } from "../../../db/schema.ts";
import { isOneOf, statement } from "../../../db/statement.ts";

/** Changes with the bytes: their hash, or the hash of all parts' hashes. */
const version = sql<string>`coalesce(o.sha256, o.etag, '')`;

const described = [
  "o.key",
  "o.upload_id",
  "o.size_bytes",
  "o.sha256",
  "o.blob",
  "o.damaged",
  version.as("version"),
] as const;

/** Final objects whose current bytes are not in the bucket. */
const missing = (q: QueryCreator<Schema>) =>
  q
    .selectFrom("disk_object as o")
    .leftJoin("relocated_object as r", "r.key", "o.key")
    .where("o.state", "=", "final")
    .where(sql<boolean>`(r.version is null or r.version <> ${version})`);

export const listMissing = statement((q, p: { after: string; take: number }) =>
  missing(q).select(described).where("o.key", ">", p.after).orderBy("o.key").limit(p.take),
);

// bounded: once per operator command
export const measureUncopied = statement((q, _: object) =>
  missing(q)
    .select((select) => [
      select.fn.countAll<number>().as("objects"),
      sql<number>`cast(coalesce(sum(o.size_bytes), 0) as bigint)`.as("bytes"),
    ])
    .where("o.damaged", "=", 0),
);

/** Received bodies of uploads that are not completed. */
export const listStaged = statement((q, p: { after: string; take: number }) =>
  q
    .selectFrom("disk_object as o")
    .select(described)
    .where("o.state", "=", "open")
    .where("o.upload_id", "is", null)
    .where("o.blob", "is not", null)
    .where("o.damaged", "=", 0)
    .where("o.key", ">", p.after)
    .orderBy("o.key")
    .limit(p.take),
);

export const listParts = statement((q, p: { uploadId: string }) =>
  q
    .selectFrom("disk_part")
    .select(["blob", "size_bytes", "sha256"])
    .where("upload_id", "=", p.uploadId)
    .where("size_bytes", ">", 0)
    .orderBy("part_number")
    .limit(PARTS_MAX),
);

/** Whether the object is unchanged since it was listed. */
export const findVersion = statement((q, p: { key: string }) =>
  q
    .selectFrom("disk_object as o")
    .select(version.as("version"))
    .where("o.key", "=", p.key)
    .where("o.state", "in", ["final", "open"]),
);

export const listFileTypes = statement((q, p: { idsJson: string }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "type"])
    .where(isOneOf(dialect, "id", p.idsJson)),
);

export const listVariantTypes = statement((q, p: { idsJson: string }, dialect) =>
  q
    .selectFrom("variant")
    .select(["id", "content_type"])
    .where(isOneOf(dialect, "id", p.idsJson)),
);

export const listMovedProjects = statement((q, p: { idsJson: string }, dialect) =>
  q
    .selectFrom("project")
    .select("id")
    .where(isOneOf(dialect, "id", p.idsJson)),
);

interface MovedObject {
  key: string;
  version: string;
  sizeBytes: number;
  etag: string | null;
}

export const putMoved = statement((q, p: MovedObject) =>
  q
    .insertInto("relocated_object")
    .values({ key: p.key, version: p.version, size_bytes: p.sizeBytes, etag: p.etag })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet({
        version: sql`excluded.version`,
        size_bytes: sql`excluded.size_bytes`,
        etag: sql`excluded.etag`,
      }),
    ),
);

const isWanted = (where: ExpressionBuilder<Schema, "relocated_object">) =>
  where.exists(
    where
      .selectFrom("disk_object")
      .select("disk_object.key")
      .whereRef("disk_object.key", "=", "relocated_object.key")
      .where("disk_object.state", "=", "final"),
  );

/** Those of these keys that belong in the bucket. */
export const listWanted = statement((q, p: { keysJson: string }, dialect) =>
  q
    .selectFrom("relocated_object")
    .select(["key", "size_bytes"])
    .where(isOneOf(dialect, "key", p.keysJson))
    .where(isWanted),
);

export const listMoved = statement((q, p: { after: string; take: number }) =>
  q.selectFrom("relocated_object").select("key").where("key", ">", p.after).orderBy("key").limit(p.take),
);

export const forgetMoved = statement((q, p: { keysJson: string }, dialect) =>
  q.deleteFrom("relocated_object").where(isOneOf(dialect, "key", p.keysJson)),
);

export const forgetDeleted = statement((q, _: object) =>
  q.deleteFrom("relocated_object").where((where) => where.not(isWanted(where))),
);

export const forgetAll = statement((q, _: object) => q.deleteFrom("relocated_object"));

// bounded: once per operator command
export const measureMoved = statement((q, _: object) =>
  q
    .selectFrom("relocated_object")
    .select((select) => [
      select.fn.countAll<number>().as("objects"),
      sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`.as("bytes"),
    ]),
);

/** Open multipart uploads; their parts are not copied. */
// bounded: once per operator command
export const countOpenMultipart = statement((q, p: { store: string }) =>
  q
    .selectFrom("file")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("status", "=", "UPLOADING")
    .where("store", "=", p.store)
    .where("upload_id", "is not", null),
);
