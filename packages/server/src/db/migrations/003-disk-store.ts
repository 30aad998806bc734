/**
 * Where the embedded store's bytes are. A single object names its blob itself; a multipart one is made of the
 * parts of its upload, so the long key is not repeated 2,048 times. A `gone` object is a tombstone that keeps
 * old upload URLs refused.
 */
export const diskStore = `
CREATE TABLE disk_store (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  identity TEXT NOT NULL,
  scrubbed_up_to TEXT NOT NULL
);
CREATE TABLE disk_object (
  key TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('open', 'final', 'gone')),
  upload_id TEXT UNIQUE,
  size_bytes BIGINT NOT NULL CHECK (size_bytes >= 0),
  etag TEXT,
  sha256 TEXT,
  blob TEXT UNIQUE,
  replaced_blob TEXT,
  damaged BIGINT NOT NULL,
  received_at BIGINT,
  gone_at BIGINT
);
CREATE INDEX disk_object_gone ON disk_object (gone_at) WHERE state = 'gone';
CREATE TABLE disk_part (
  upload_id TEXT NOT NULL,
  part_number BIGINT NOT NULL,
  blob TEXT NOT NULL UNIQUE,
  size_bytes BIGINT NOT NULL CHECK (size_bytes >= 0),
  start_byte BIGINT,
  sha256 TEXT NOT NULL,
  damaged BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  PRIMARY KEY (upload_id, part_number)
);
`;
