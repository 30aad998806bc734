/**
 * People who signed in to the dashboard, and whom a project's owner lets in. Of a session only the hash of its token
 * is kept: whoever reads a backup cannot use it.
 */
export const consoleTables = `
CREATE TABLE console_session (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account (id),
  user_agent TEXT NOT NULL,
  address TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX console_session_of_account ON console_session (account_id);
CREATE INDEX console_session_expiry ON console_session (expires_at);
CREATE TABLE project_member (
  project_id TEXT NOT NULL REFERENCES project (id),
  account_id TEXT NOT NULL REFERENCES account (id),
  role TEXT NOT NULL CHECK (role IN ('developer', 'viewer')),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (project_id, account_id)
);
CREATE INDEX project_member_of_account ON project_member (account_id);
`;
