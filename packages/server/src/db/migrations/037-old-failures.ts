/** Finds failed uploads by age. No upload that succeeds ever touches this index. */
export const oldFailures = {
  name: "file_failed_at",
  sql: "CREATE INDEX file_failed_at ON file (updated_at) WHERE status = 'FAILED';",
};
