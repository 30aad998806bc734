/**
 * Quotas and the creation of keys are bounded per account. Bytes in a customer's own bucket stop counting as storage.
 */
export const accountLimits = `
ALTER TABLE account ADD COLUMN keys_made BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN keys_made_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN is_counted BIGINT NOT NULL DEFAULT 1;
CREATE INDEX project_counted ON project (account_id) WHERE is_counted = 1;
UPDATE usage_total SET
  stored_bytes = stored_bytes - (
    SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM file
    WHERE file.project_id = usage_total.project_id AND file.environment = usage_total.environment
      AND file.status = 'UPLOADED' AND file.store IN (SELECT id FROM customer_store)
  ),
  reserved_bytes = reserved_bytes - (
    SELECT CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM file
    WHERE file.project_id = usage_total.project_id AND file.environment = usage_total.environment
      AND file.status = 'UPLOADING' AND file.store IN (SELECT id FROM customer_store)
  )
WHERE project_id IN (SELECT project_id FROM customer_store);
`;
