/** Buckets of customers, with sealed credentials. A file names the one that holds it; a project the one for new files. */
export const customerStorage = `
CREATE TABLE customer_store (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  endpoint TEXT,
  region TEXT NOT NULL,
  bucket TEXT NOT NULL,
  prefix TEXT NOT NULL,
  force_path_style BIGINT NOT NULL,
  sealed TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX customer_store_of_project ON customer_store (project_id, id);
ALTER TABLE project ADD COLUMN store_id TEXT;
`;
