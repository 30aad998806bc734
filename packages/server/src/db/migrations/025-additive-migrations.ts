/** Whether versions that do not know a migration may run on a database that has it. */
export const additiveMigrations = `
ALTER TABLE migration ADD COLUMN is_additive BIGINT NOT NULL DEFAULT 0;
`;
