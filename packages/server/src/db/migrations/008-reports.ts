/**
 * What the dashboard shows over time. A day's row holds what its month had counted by the end of that day; a day's
 * own share is what it has more than the row before. Counting therefore costs uploads and downloads nothing.
 */
export const reports = `
CREATE TABLE usage_day (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
  day TEXT NOT NULL,
  uploads BIGINT NOT NULL,
  bandwidth_bytes BIGINT NOT NULL,
  transform_units BIGINT NOT NULL,
  stored_bytes BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment, day)
);
CREATE INDEX usage_day_by_day ON usage_day (day);
CREATE INDEX usage_period_by_period ON usage_period (period);
CREATE INDEX disk_object_damaged ON disk_object (key) WHERE damaged = 1;
CREATE INDEX disk_part_damaged ON disk_part (upload_id) WHERE damaged = 1;
CREATE TABLE maintenance_report (
  name TEXT PRIMARY KEY,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  report TEXT NOT NULL
);
`;
