import type { IndexDefinition } from "../database.ts";

/**
 * A file ends when `expires_at` or `claim_by` has passed. `purge_at` is set while a deleted file is in the trash: its
 * bytes exist and count until then. `trash_days` is below zero while the trash of a deleted project is being emptied.
 */
export const life = `
ALTER TABLE file ADD COLUMN expires_at BIGINT;
ALTER TABLE file ADD COLUMN claim_by BIGINT;
ALTER TABLE file ADD COLUMN purge_at BIGINT;
ALTER TABLE file_route ADD COLUMN expire_after_days BIGINT;
ALTER TABLE file_route ADD COLUMN claim_within_sec BIGINT;
ALTER TABLE project ADD COLUMN trash_days BIGINT NOT NULL DEFAULT 0;
CREATE INDEX project_trash_to_empty ON project (id) WHERE trash_days < 0;
`;

/** No file is in any of these unless it expires, waits to be claimed or is in the trash. */
export const lifeIndexes: readonly IndexDefinition[] = [
  {
    name: "file_expiring",
    sql: "CREATE INDEX file_expiring ON file (expires_at) WHERE expires_at IS NOT NULL AND status <> 'DELETED';",
  },
  {
    name: "file_unclaimed",
    sql: "CREATE INDEX file_unclaimed ON file (claim_by) WHERE claim_by IS NOT NULL AND status <> 'DELETED';",
  },
  {
    name: "file_trash",
    sql: "CREATE INDEX file_trash ON file (project_id, environment, id) WHERE purge_at IS NOT NULL;",
  },
  {
    name: "file_purge",
    sql: "CREATE INDEX file_purge ON file (purge_at) WHERE purge_at IS NOT NULL;",
  },
];
