/**
 * `upload_grant` counts the places that were taken under a grant. `resumable_upload` is the state of an upload that grows
 * append by append: `lease` is raised by each request that takes it over, and `store_state` is what the store needs to
 * continue after `offset_bytes`, all of which it has durably.
 */
export const resumableUploads = `
CREATE TABLE upload_grant (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  key_id TEXT,
  route_id TEXT NOT NULL,
  max_files BIGINT NOT NULL,
  taken_files BIGINT NOT NULL CHECK (taken_files <= max_files),
  max_file_size_bytes BIGINT,
  allowed_types TEXT,
  metadata TEXT NOT NULL,
  access TEXT,
  audience TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX upload_grant_end ON upload_grant (expires_at);
CREATE TABLE resumable_upload (
  file_id TEXT PRIMARY KEY,
  key_id TEXT,
  length_bytes BIGINT,
  offset_bytes BIGINT NOT NULL,
  store_state TEXT NOT NULL,
  described TEXT NOT NULL,
  lease BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  is_awaited BIGINT NOT NULL,
  touched_at BIGINT NOT NULL
);
CREATE INDEX resumable_upload_age ON resumable_upload (touched_at);
`;
