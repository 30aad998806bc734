/**
 * On PostgreSQL, what uploads change is counted in rows of which each transaction takes one that is free, so that
 * uploads to a project don't wait for each other. They are added to the other two tables, and one alone may be
 * negative. The embedded database has one writer and keeps this table empty.
 */
export const usageShares = `
CREATE TABLE usage_share (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  period TEXT NOT NULL,
  share BIGINT NOT NULL,
  stored_bytes BIGINT NOT NULL,
  reserved_bytes BIGINT NOT NULL,
  uploads BIGINT NOT NULL,
  reserved_uploads BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, period, share)
);
`;

/** While instances are replaced one after another, the former version may end what was reserved in a share. */
export const usageBelowZero = `
ALTER TABLE usage_total DROP CONSTRAINT usage_total_stored_bytes_check;
ALTER TABLE usage_total DROP CONSTRAINT usage_total_reserved_bytes_check;
ALTER TABLE usage_period DROP CONSTRAINT usage_period_uploads_check;
ALTER TABLE usage_period DROP CONSTRAINT usage_period_reserved_uploads_check;
`;
