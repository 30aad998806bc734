/** Failed uploads are few among many files. No upload that succeeds ever touches this index. */
export const failedFiles = {
  name: "file_failed",
  sql: "CREATE INDEX file_failed ON file (project_id, environment, id) WHERE status = 'FAILED';",
};
