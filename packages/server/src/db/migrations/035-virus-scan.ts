/** `scan_due_at` is set while a file waits for its verdict: when it is due, or when the lease of its scan ends. */
export const virusScan = `
ALTER TABLE file_route ADD COLUMN scan BIGINT NOT NULL DEFAULT 0;
ALTER TABLE file_route ADD COLUMN scan_unknown TEXT NOT NULL DEFAULT 'refuse';
ALTER TABLE file ADD COLUMN scan TEXT;
ALTER TABLE file ADD COLUMN scan_due_at BIGINT;
`;

/** Files that wait for their scan, project by project. No other file is in this index. */
export const scansDue = {
  name: "file_scan_due",
  sql: "CREATE INDEX file_scan_due ON file (project_id, scan_due_at) WHERE scan_due_at IS NOT NULL AND status = 'UPLOADED';",
};
