import { statement } from "../../db/statement.ts";

/** What delivery needs of a file that may be served; none once it is deleted, whatever caches believe. */
export const findServedFile = statement((q, p: { key: string }) =>
  q
    .selectFrom("file")
    .select([
      "id",
      "key",
      "name",
      "size_bytes",
      "type",
      "etag",
      "completed_at",
      "project_id",
      "environment",
      "store",
    ])
    .where("key", "=", p.key)
    .where("status", "=", "UPLOADED"),
);
