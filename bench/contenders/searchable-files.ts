import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import type { Upstow } from "./upstow.ts";

const columns = `(id, key, project_id, environment, route_slug, name, size_bytes, type, status, metadata, sha256,
  etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)`;

/** SQL of a name and of metadata; `number` is the file's, as text. */
export interface FileTexts {
  /** Ids begin with this digit; the later ones are the newer ones. */
  age: 0 | 1;
  name(number: string): string;
  metadata: string;
}

/** As applications give them. */
const usual: FileTexts = {
  age: 0,
  name: (number) => `'upload-' || ${number} || '.jpg'`,
  metadata: `'{"userId":"user-' || (i % 977) || '","album":"album-' || (i % 31) || '","index":' || i || '}'`,
};

/** Almost a match at every position, and as large as they may be. */
const nearPairs = JSON.stringify({ list: Array.from({ length: 1_400 }, () => ({ k: "vv" })) });
export const nearMisses: FileTexts = {
  age: 1,
  name: () => `'${"é".repeat(100)}${"a".repeat(155)}'`,
  metadata: `'${nearPairs}'`,
};

/** `id` and the number in it are written for each engine. */
const values = (id: string, number: string, projectId: string, texts: FileTexts) => `${id},
  '${projectId}/photos/' || ${id} || '/' || ${texts.name(number)}, '${projectId}', 'live', 'photos',
  ${texts.name(number)}, 10240, 'image/jpeg', 'UPLOADED', ${texts.metadata}, NULL,
  'e', 'disk', NULL, NULL, 0, 1700000000000, 1700000000000, 1700000000000`;

export function insertSearchable({ dataDir, projectId }: Upstow, count: number, texts = usual): void {
  const database = new DatabaseSync(join(dataDir, "upstow.db"));
  const row = values(`printf('${texts.age}0%024d', i)`, "printf('%06d', i)", projectId, texts);
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO file ${columns} SELECT ${row} FROM n;
    ANALYZE;`);
  database.close();
}

export async function insertSearchableInto(
  url: string,
  { projectId }: Upstow,
  count: number,
  texts = usual,
): Promise<void> {
  const sql = postgres(url, { max: 1 });
  const row = values(`'${texts.age}' || lpad(i::text, 25, '0')`, "lpad(i::text, 6, '0')", projectId, texts);
  // The project is known to exist: looking for it once for each row is most of the work otherwise.
  await sql.unsafe("SET session_replication_role = replica");
  await sql.unsafe(`INSERT INTO file ${columns} SELECT ${row} FROM generate_series(1, ${count}) AS i`);
  await sql.unsafe("VACUUM ANALYZE file");
  await sql.end();
}
