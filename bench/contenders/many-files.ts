import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import type { Upstow } from "./upstow.ts";

// Ids sort by time; these are older than any that the server makes now, and in its alphabet.
const columns = `(id, key, project_id, environment, route_slug, name, size_bytes, type, status, metadata, sha256,
  etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)`;
const values = (id: string, projectId: string) => `${id}, '${projectId}/default/' || ${id} || '/photo.bin',
  '${projectId}', 'live', 'default', 'photo.bin', 10240, 'application/octet-stream', 'UPLOADED', '{}', NULL,
  'e', 'disk', NULL, NULL, 0, 1700000000000, 1700000000000, 1700000000000`;

export const idOfFile = (i: number) => String(i).padStart(26, "0");
export const keyOfFile = (projectId: string, i: number) => `${projectId}/default/${idOfFile(i)}/photo.bin`;

/** Puts rows of finished files straight into the database: uploading a million would take an hour. */
export function insertIntoEmbedded({ dataDir, projectId }: Upstow, count: number): void {
  const database = new DatabaseSync(join(dataDir, "upstow.db"));
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO file ${columns} SELECT ${values("printf('00%024d', i)", projectId)} FROM n;
    ANALYZE;`);
  database.close();
}

export async function insertIntoPostgres(url: string, { projectId }: Upstow, count: number): Promise<void> {
  const sql = postgres(url, { max: 1 });
  const id = "lpad(i::text, 26, '0')";
  // The project is known to exist: looking for it once for each row is most of the work otherwise.
  await sql.unsafe("SET session_replication_role = replica");
  await sql.unsafe(
    `INSERT INTO file ${columns} SELECT ${values(id, projectId)} FROM generate_series(1, ${count}) AS i`,
  );
  await sql.unsafe("VACUUM ANALYZE file");
  await sql.end();
}
