export const foundation = `
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT,
  tier TEXT NOT NULL,
  rate_upload BIGINT,
  rate_transform BIGINT,
  rate_other BIGINT,
  transform_units BIGINT,
  project_count BIGINT NOT NULL DEFAULT 0 CHECK (project_count >= 0),
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE TABLE installation (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  owner_account_id TEXT NOT NULL REFERENCES account (id),
  secret_check TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE TABLE login_link (
  token_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  expires_at BIGINT NOT NULL
);
CREATE TABLE project (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  key_count BIGINT NOT NULL DEFAULT 0 CHECK (key_count >= 0),
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE INDEX project_of_account ON project (account_id, id) WHERE deleted_at IS NULL;
CREATE TABLE file_route (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  slug TEXT NOT NULL,
  allowed_types TEXT NOT NULL,
  max_file_size_bytes BIGINT,
  webhook_url TEXT,
  environment TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (project_id, slug)
);
CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_used_at BIGINT,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX api_key_of_project ON api_key (project_id, id) WHERE revoked_at IS NULL;
CREATE TABLE rate_window (
  bucket TEXT PRIMARY KEY,
  started_at BIGINT NOT NULL,
  count BIGINT NOT NULL
);
CREATE TABLE idempotency (
  scope TEXT PRIMARY KEY,
  request_hash TEXT NOT NULL,
  claim TEXT NOT NULL,
  lease_until BIGINT NOT NULL,
  status BIGINT,
  response TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE TABLE usage_total (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  stored_bytes BIGINT NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0),
  reserved_bytes BIGINT NOT NULL DEFAULT 0 CHECK (reserved_bytes >= 0),
  PRIMARY KEY (project_id, environment)
);
CREATE TABLE usage_period (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  period TEXT NOT NULL,
  uploads BIGINT NOT NULL DEFAULT 0 CHECK (uploads >= 0),
  reserved_uploads BIGINT NOT NULL DEFAULT 0 CHECK (reserved_uploads >= 0),
  bandwidth_bytes BIGINT NOT NULL DEFAULT 0 CHECK (bandwidth_bytes >= 0),
  transform_units BIGINT NOT NULL DEFAULT 0 CHECK (transform_units >= 0),
  stored_bytes BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, environment, period)
);
CREATE TABLE log (
  id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  environment TEXT NOT NULL,
  type TEXT NOT NULL,
  file_id TEXT,
  key TEXT,
  message TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, id)
);
`;
