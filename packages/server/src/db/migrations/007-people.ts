/**
 * How people prove who they are beside a password, and how they are asked into a project. Tokens and recovery codes
 * are kept as hashes, what makes one-time codes is encrypted. A member may now be an owner too: neither engine can
 * widen the old rule in place, so the table is made anew.
 */
export const people = `
CREATE TABLE totp (
  account_id TEXT PRIMARY KEY REFERENCES account (id),
  secret_sealed TEXT NOT NULL,
  confirmed_at BIGINT,
  last_step BIGINT NOT NULL,
  failures BIGINT NOT NULL,
  next_try_at BIGINT NOT NULL
);
CREATE TABLE recovery_code (
  account_id TEXT NOT NULL REFERENCES account (id),
  code_hash TEXT NOT NULL,
  PRIMARY KEY (account_id, code_hash)
);
CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  credential_id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL,
  sign_count BIGINT NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT
);
CREATE INDEX passkey_of_account ON passkey (account_id);
CREATE TABLE sign_in_step (
  token_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('code', 'passkey', 'new-passkey')),
  account_id TEXT REFERENCES account (id),
  challenge TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sign_in_step_expiry ON sign_in_step (expires_at);
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES project (id),
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
  invited_by TEXT NOT NULL REFERENCES account (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX invitation_of_project ON invitation (project_id, id);
CREATE TABLE project_member_with_owners (
  project_id TEXT NOT NULL REFERENCES project (id),
  account_id TEXT NOT NULL REFERENCES account (id),
  role TEXT NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, account_id)
);
INSERT INTO project_member_with_owners SELECT project_id, account_id, role, created_at FROM project_member;
DROP TABLE project_member;
ALTER TABLE project_member_with_owners RENAME TO project_member;
CREATE INDEX project_member_of_account ON project_member (account_id);
`;
