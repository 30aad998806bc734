export const files = `
CREATE TABLE file (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  route_slug TEXT NOT NULL,
  name TEXT NOT NULL,
  size_bytes BIGINT NOT NULL CHECK (size_bytes >= 0),
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  metadata TEXT NOT NULL,
  sha256 TEXT,
  etag TEXT,
  store TEXT NOT NULL,
  upload_id TEXT,
  reserved_period TEXT,
  reap_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  completed_at BIGINT
);
CREATE INDEX file_listing ON file (project_id, environment, id) WHERE status <> 'DELETED';
CREATE INDEX file_open ON file (reap_at) WHERE status = 'UPLOADING';
CREATE TABLE storage_deletion (
  id TEXT PRIMARY KEY,
  store TEXT NOT NULL,
  key TEXT NOT NULL,
  upload_id TEXT,
  run_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL
);
CREATE INDEX storage_deletion_due ON storage_deletion (run_at);
`;
