/**
 * Files that the service fetches from a URL. A row without `slot` waits for `run_at`; one with a slot is being fetched
 * until then, by the holder of `token`. A failed import keeps its row for the reason.
 */
export const imports = `
CREATE TABLE file_import (
  file_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  url_sealed TEXT NOT NULL,
  guesses_type BIGINT NOT NULL,
  etag TEXT,
  received_bytes BIGINT NOT NULL,
  total_bytes BIGINT,
  attempts BIGINT NOT NULL,
  slot BIGINT,
  token TEXT,
  run_at BIGINT,
  started_at BIGINT,
  failed_at BIGINT,
  failure TEXT,
  message TEXT
);
CREATE UNIQUE INDEX file_import_slot ON file_import (account_id, slot) WHERE slot IS NOT NULL;
CREATE INDEX file_import_waiting ON file_import (account_id, file_id) WHERE slot IS NULL AND run_at IS NOT NULL;
CREATE INDEX file_import_failed ON file_import (failed_at) WHERE failed_at IS NOT NULL;
`;
