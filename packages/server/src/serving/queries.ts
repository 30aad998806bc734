import { type Statement, statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { hasEnded, readable } from "../files/life.ts";
import { type NamedFile, nameFile } from "../files/serialize.ts";

export const servedColumns = [
  "file.id",
  "file.key",
  "file.name",
  "file.size_bytes",
  "file.type",
  "file.etag",
  "file.completed_at",
  "file.project_id",
  "file.environment",
  "file.store",
  "file.access",
  "file.stored_apart",
  "file.sha256",
  "file.upload_id",
  "file.store_etag",
  "file.expires_at",
  "file.claim_by",
  "file.focus",
] as const;

/** The columns needed to serve a file; no row once it is deleted, whatever caches have. */
export const findServedFile = statement((q, p: NamedFile) =>
  q.selectFrom("file").select(servedColumns).where("id", "=", p.id).where("key", "=", p.key).where(readable),
);

/** If shared caches may keep files: includes the project's own domain, whose cache we cannot purge. */
const findCacheableFile = statement((q, p: NamedFile) =>
  q
    .selectFrom("file")
    .innerJoin("project", "project.id", "file.project_id")
    .select([...servedColumns, "project.cdn_url"])
    .where("file.id", "=", p.id)
    .where("file.key", "=", p.key)
    .where(readable),
);

/** With what its project serves without a signature. */
const findImageFile = statement((q, p: NamedFile) =>
  q
    .selectFrom("file")
    .innerJoin("project", "project.id", "file.project_id")
    .select([
      ...servedColumns,
      "project.cdn_url",
      "project.image_widths",
      "project.image_qualities",
      "project.image_presets",
    ])
    .where("file.id", "=", p.id)
    .where("file.key", "=", p.key)
    .where(readable),
);

export type ServedFile = NonNullable<(typeof findServedFile)["types"]>["row"] & { cdn_url?: string | null };

/** The row may have been read a while ago, so its end is compared with the time here. */
export async function recallServedFile(
  { config, db, now }: Pick<Deps, "config" | "db" | "now">,
  key: string,
): Promise<ServedFile | null> {
  const find: Statement<NamedFile, ServedFile> =
    config.cdnPurge === null ? findServedFile : findCacheableFile;
  const file = await db.recall(find, nameFile(key));
  return file === null || hasEnded(file, now) ? null : file;
}

export type ImageFile = NonNullable<(typeof findImageFile)["types"]>["row"];

export async function recallImageFile(
  { db, now }: Pick<Deps, "db" | "now">,
  key: string,
): Promise<ImageFile | null> {
  const file = await db.recall(findImageFile, nameFile(key));
  return file === null || hasEnded(file, now) ? null : file;
}

/** A shared cache may keep a file only if a deletion reaches every cache that may have it. */
export function isPurgeable(file: ServedFile): boolean {
  return (file.cdn_url ?? null) === null;
}
