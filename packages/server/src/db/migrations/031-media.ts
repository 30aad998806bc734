/**
 * What is known of images, the point to keep in view when they are cut, and which variants a project's files have at
 * public URLs without a signature.
 */
export const media = `
ALTER TABLE file ADD COLUMN image TEXT;
ALTER TABLE file ADD COLUMN facts_due_at BIGINT;
ALTER TABLE file ADD COLUMN focus TEXT;
ALTER TABLE file_route ADD COLUMN keep_location BIGINT NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN image_widths TEXT;
ALTER TABLE project ADD COLUMN image_qualities TEXT;
ALTER TABLE project ADD COLUMN image_presets TEXT;
`;

/** Files whose facts are due, project by project. No other file is in this index. */
export const factsDue = {
  name: "file_facts_due",
  sql: "CREATE INDEX file_facts_due ON file (project_id, facts_due_at) WHERE facts_due_at IS NOT NULL AND status = 'UPLOADED';",
};
