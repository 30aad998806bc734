import { statement } from "../../db/statement.ts";
import type { NamedFile } from "../files/name-file.ts";

/** What delivery needs of a file that may be served; none once it is deleted, whatever caches believe. */
export const findServedFile = statement((q, p: NamedFile) =>
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
    .where("id", "=", p.id)
    .where("key", "=", p.key)
    .where("status", "=", "UPLOADED"),
);
