import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import type { Upstow } from "./upstow.ts";

const columns = `(id, key, project_id, environment, route_slug, name, size_bytes, type, status, metadata, sha256,
  etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)`;

/** Names and metadata as applications give them; `id` and the number in it are written for each engine. */
const values = (id: string, number: string, projectId: string) => `${id},
  '${projectId}/photos/' || ${id} || '/upload-' || ${number} || '.jpg', '${projectId}', 'live', 'photos',
  'upload-' || ${number} || '.jpg', 10240, 'image/jpeg', 'UPLOADED',
  '{"userId":"user-' || (i % 977) || '","album":"album-' || (i % 31) || '","index":' || i || '}', NULL,
  'e', 'disk', NULL, NULL, 0, 1700000000000, 1700000000000, 1700000000000`;

export function insertSearchable({ dataDir, projectId }: Upstow, count: number): void {
  const database = new DatabaseSync(join(dataDir, "upstow.db"));
  const row = values("printf('00%024d', i)", "printf('%06d', i)", projectId);
  database.exec("PRAGMA synchronous = OFF");
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO file ${columns} SELECT ${row} FROM n;
    ANALYZE;`);
  database.close();
}

export async function insertSearchableInto(url: string, { projectId }: Upstow, count: number): Promise<void> {
  const sql = postgres(url, { max: 1 });
  const row = values("lpad(i::text, 26, '0')", "lpad(i::text, 6, '0')", projectId);
  await sql.unsafe(`INSERT INTO file ${columns} SELECT ${row} FROM generate_series(1, ${count}) AS i`);
  await sql.unsafe("VACUUM ANALYZE file");
  await sql.end();
}
