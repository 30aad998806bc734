/**
 * `links_revoked_at` and `revoked_at` end everything signed up to that moment. `stored_apart` tells whether a file's bytes
 * are stored with private or with public ones; a `file_move` brings them to the right place.
 */
export const privateFiles = `
ALTER TABLE file_route ADD COLUMN access TEXT NOT NULL DEFAULT 'public';
ALTER TABLE file ADD COLUMN access TEXT NOT NULL DEFAULT 'public';
ALTER TABLE file ADD COLUMN audience TEXT;
ALTER TABLE file ADD COLUMN stored_apart BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN links_revoked_at BIGINT NOT NULL DEFAULT 0;
CREATE TABLE read_key (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  current_sealed TEXT NOT NULL,
  next_sealed TEXT NOT NULL,
  revoked_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment)
);
CREATE TABLE audience_revocation (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  audience TEXT NOT NULL,
  revoked_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, audience)
);
CREATE INDEX audience_revocation_age ON audience_revocation (revoked_at);
CREATE TABLE counted_link (
  id TEXT PRIMARY KEY,
  file_id TEXT NOT NULL,
  max_uses BIGINT NOT NULL,
  uses BIGINT NOT NULL CHECK (uses <= max_uses),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX counted_link_file ON counted_link (file_id, id);
CREATE INDEX counted_link_end ON counted_link (expires_at);
CREATE TABLE counted_link_use (
  link_id TEXT NOT NULL,
  client TEXT NOT NULL,
  opened_at BIGINT NOT NULL,
  PRIMARY KEY (link_id, client)
);
CREATE TABLE file_move (
  file_id TEXT PRIMARY KEY,
  version BIGINT NOT NULL,
  claim TEXT NOT NULL,
  run_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL
);
CREATE INDEX file_move_due ON file_move (run_at);
`;
