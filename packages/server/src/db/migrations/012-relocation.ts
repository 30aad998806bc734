/**
 * Moving an installation to another database or store. `read_only` holds one row for each reason why nothing may be
 * changed. `relocation` says how far a move is; `relocated_object` which bytes are in the bucket, under which
 * version of theirs; `relocated_table`, in the database that rows are copied to, how far each table is.
 */
export const relocation = `
CREATE TABLE read_only (
  reason TEXT PRIMARY KEY,
  since BIGINT NOT NULL
);
CREATE TABLE relocation (
  name TEXT PRIMARY KEY CHECK (name IN ('storage', 'database')),
  installation TEXT NOT NULL,
  target TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('copying', 'copied', 'switching', 'done', 'abandoned')),
  started_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL
);
CREATE TABLE relocated_object (
  key TEXT PRIMARY KEY,
  version TEXT NOT NULL,
  size_bytes BIGINT NOT NULL
);
CREATE TABLE relocated_table (
  name TEXT PRIMARY KEY,
  last_key TEXT NOT NULL,
  row_count BIGINT NOT NULL,
  is_complete BIGINT NOT NULL
);
`;
