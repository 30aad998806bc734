import { statfs } from "node:fs/promises";
import type postgres from "postgres";

export type Sql = ReturnType<typeof postgres>;

/** The first holds half of all files, the others share the rest. */
const projects = 100;
/** One in a thousand is an upload that is open. */
const openShare = 1000;
const batchRows = 200_000;
/** Table, indexes and a margin for the log. */
const bytesPerRow = 700;
const logBytes = 6 * 1024 ** 3;

export const bigProject = "p000000000000000000000000";
export const idOf = (i: number) => i.toString(16).padStart(26, "0");
export const keyOf = (i: number) => `${bigProject}/default/${idOf(i)}/photo.jpg`;

export async function checkFreeDisk(folder: string, rows: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const neededBytes = rows * bytesPerRow + logBytes;
  const gib = (bytes: number) => (bytes / 1024 ** 3).toFixed(1);
  if (bavail * bsize < neededBytes)
    throw new Error(`${rows} rows need ${gib(neededBytes)} GiB of disk; ${gib(bavail * bsize)} GiB are free`);
}

export async function createProjects(sql: Sql): Promise<void> {
  await sql`INSERT INTO account (id, email, tier, created_at, updated_at)
    VALUES ('a', 'a@example.com', 'enterprise', 0, 0) ON CONFLICT DO NOTHING`;
  await sql`INSERT INTO project (id, account_id, name, slug, created_at, updated_at)
    SELECT 'p' || lpad(cast(i as text), 24, '0'), 'a', 'p', 'p' || i, 0, 0
    FROM generate_series(0, ${projects - 1}) i ON CONFLICT DO NOTHING`;
}

/** While the table is empty. Indexes keep their names, because the service builds what it does not find. */
export async function partitionFiles(sql: Sql, partitions: number, rows: number): Promise<void> {
  const [table] = await sql`SELECT relkind FROM pg_class WHERE oid = 'file'::regclass`;
  if (table?.["relkind"] === "p") return;
  const indexes = await sql<{ indexdef: string }[]>`SELECT indexdef FROM pg_indexes
    WHERE tablename = 'file' AND indexname <> 'file_pkey'`;
  const starts = Array.from(
    { length: partitions - 1 },
    (_, i) => `'${idOf(Math.round((rows * (i + 1)) / partitions))}'`,
  );
  const bounds = ["MINVALUE", ...starts, "MAXVALUE"];
  await sql.begin(async (tx) => {
    await tx`ALTER TABLE file RENAME TO file_before`;
    await tx`CREATE TABLE file (LIKE file_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (id)`;
    await tx`DROP TABLE file_before`;
    await tx`ALTER TABLE file ADD PRIMARY KEY (id), ADD FOREIGN KEY (project_id) REFERENCES project (id)`;
    for (let i = 0; i < partitions; i++)
      await tx.unsafe(
        `CREATE TABLE file_${i} PARTITION OF file FOR VALUES FROM (${bounds[i]}) TO (${bounds[i + 1]})`,
      );
    for (const { indexdef } of indexes) await tx.unsafe(indexdef);
  });
}

/** The number of the newest file; 0 when there is none. */
export async function findNewest(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM file ORDER BY id DESC LIMIT 1`;
  return row === undefined ? 0 : Number.parseInt(row.id, 16);
}

/**
 * Fills the table up to `rows`, batch by batch with its indexes in place, so that a run that is cut short goes on
 * where it was. Ids grow with time, as the service's do. Returns whether it came to the end before `deadlineMs`.
 */
export async function fillFiles(sql: Sql, rows: number, deadlineMs: number): Promise<boolean> {
  let newest = await findNewest(sql);
  if (newest >= rows) {
    // What a measurement that was cut short has left.
    await sql`DELETE FROM file WHERE id > ${idOf(rows)}`;
    await tidy(sql);
    return true;
  }
  await sql`ALTER SYSTEM SET max_wal_size = '4GB'`;
  await sql`ALTER SYSTEM SET checkpoint_timeout = '30min'`;
  await sql`SELECT pg_reload_conf()`;
  // The projects are known to exist: looking for them ten million times is most of the work otherwise.
  await sql`SET session_replication_role = replica`;
  await sql`SET synchronous_commit = off`;
  const startedMs = Date.now();
  const before = newest;
  while (newest < rows && Date.now() < deadlineMs) {
    const upTo = Math.min(rows, newest + batchRows);
    await insertBatch(sql, newest + 1, upTo);
    newest = upTo;
    const rate = Math.round(((newest - before) * 1000) / (Date.now() - startedMs));
    process.stderr.write(`  ${newest.toLocaleString("en")} rows, ${rate.toLocaleString("en")} a second\n`);
  }
  await sql`RESET session_replication_role`;
  await sql`RESET synchronous_commit`;
  await sql`ALTER SYSTEM RESET max_wal_size`;
  await sql`ALTER SYSTEM RESET checkpoint_timeout`;
  await sql`SELECT pg_reload_conf()`;
  if (newest < rows) return false;
  await tidy(sql);
  return true;
}

/** Whatever the step before has left dead goes from the indexes too, though it is little. */
async function tidy(sql: Sql): Promise<void> {
  await sql`VACUUM (ANALYZE, INDEX_CLEANUP ON) file`;
  await sql`CHECKPOINT`;
}

async function insertBatch(sql: Sql, from: number, to: number): Promise<void> {
  await sql`INSERT INTO file (id, key, project_id, environment, route_slug, name, size_bytes, type, status, metadata,
      sha256, etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)
    SELECT id, project || '/default/' || id || '/photo.jpg', project, 'live',
      'default', 'photo.jpg', 1000, 'image/jpeg', CASE WHEN is_open THEN 'UPLOADING' ELSE 'UPLOADED' END, '{}',
      CASE WHEN is_open THEN null ELSE hash || hash END, CASE WHEN is_open THEN null ELSE hash END, 's3', null,
      CASE WHEN is_open THEN '2026-11' END, 1000 + i, i, i, CASE WHEN is_open THEN null ELSE i END
    FROM (SELECT i, lpad(to_hex(i), 26, '0') AS id, md5(cast(i as text)) AS hash, i % ${openShare} = 1 AS is_open,
      'p' || lpad(cast(CASE WHEN i % 2 = 0 THEN 0 ELSE 1 + (i / 2) % ${projects - 1} END as text), 24, '0') AS project
      FROM generate_series(cast(${from} as bigint), cast(${to} as bigint)) i) rows`;
}
