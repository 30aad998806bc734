/**
 * Who changed what, and from where. Rows have the project or the account they are about, or neither if they are about
 * the installation. `changes` holds the changed fields as JSON.
 */
export const audit = `
CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  project_id TEXT,
  account_id TEXT,
  author_kind TEXT NOT NULL,
  author_id TEXT,
  author_name TEXT NOT NULL,
  address TEXT,
  user_agent TEXT NOT NULL,
  action TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_label TEXT,
  changes TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX audit_of_project ON audit (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX audit_of_account ON audit (account_id, id) WHERE account_id IS NOT NULL;
`;

/** Finds deleted files whose names are still there. Uploads and changes never touch this index. */
export const namedDeletedFiles = {
  name: "file_named_deleted",
  sql: "CREATE INDEX file_named_deleted ON file (updated_at) WHERE status = 'DELETED' AND name <> '';",
};
