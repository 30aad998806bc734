/**
 * `transform_use` remembers which variants a month has been charged for. `variant` is what was rendered, or is being
 * rendered by whoever holds the claim. `public_variant_key` keeps every key that ever signed a public URL.
 */
export const variants = `
CREATE TABLE transform_use (
  project_id TEXT NOT NULL,
  period TEXT NOT NULL,
  variant TEXT NOT NULL,
  PRIMARY KEY (project_id, period, variant)
);
CREATE TABLE variant (
  id TEXT PRIMARY KEY,
  file_id TEXT NOT NULL,
  store TEXT NOT NULL,
  store_key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('rendering', 'ready', 'failed')),
  claim TEXT NOT NULL,
  lease_until BIGINT NOT NULL,
  problem TEXT,
  size_bytes BIGINT,
  etag TEXT,
  content_type TEXT,
  ready_at BIGINT,
  used_at BIGINT NOT NULL
);
CREATE INDEX variant_of_file ON variant (file_id);
CREATE INDEX variant_by_use ON variant (used_at) WHERE state = 'ready';
CREATE TABLE public_variant_key (
  id TEXT PRIMARY KEY,
  sealed TEXT NOT NULL
);
`;
