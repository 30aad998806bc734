import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Database } from "../../packages/server/src/db/database.ts";
import { settings } from "../../packages/server/src/db/postgres/connections.ts";
import { findFile, listFileRows } from "../../packages/server/src/files/queries.ts";
import { insertFile } from "../../packages/server/src/files/uploads/queries.ts";
import { createFile } from "../../packages/server/test/support/webhooks/queue.ts";

/** The same three queries, written by somebody. `i` says which file; new ones begin after those that are there. */
export interface Side {
  lookup(i: number): unknown;
  list(i: number): unknown;
  insert(i: number): unknown;
}

export const projectId = "p000000000000000000000000";
const environment = "live" as const;
const take = 100;

const idOf = (i: number) => String(i).padStart(26, "0");
const keyOf = (i: number) => `${projectId}/default/${idOf(i)}/photo.bin`;

/** What an upload that begins writes, in the order of the columns. */
const newFile = (i: number) => ({
  id: idOf(i),
  key: keyOf(i),
  project_id: projectId,
  environment,
  route_slug: "default",
  name: "photo.bin",
  size_bytes: 10240,
  type: "application/octet-stream",
  status: "UPLOADING" as const,
  metadata: "{}",
  sha256: null,
  etag: null,
  store: "disk",
  upload_id: null,
  reserved_period: "2026-11",
  reap_at: 1,
  created_at: 1,
  updated_at: 1,
  completed_at: null,
  access: "public" as const,
  audience: null,
  stored_apart: 0,
  links_revoked_at: 0,
  expires_at: null,
});

/** Columns that an upload has later. */
const unset = createFile(projectId, environment);
const now = 1;

/** The service's own statements, through its own interface to databases. */
export function compiledSide(db: Database): Side {
  return {
    lookup: (i) => db.get(findFile, { id: idOf(i), key: keyOf(i), projectId, environment, now }),
    list: (i) => db.all(listFileRows, { projectId, environment, before: idOf(i + take), take, now }),
    insert: (i) => db.transact((tx) => tx.run(insertFile, { ...unset, ...newFile(i) })),
  };
}

const listed =
  "id, key, name, size_bytes, type, status, sha256, created_at, access, audience, expires_at, claim_by, detected_type, scan";
const isThere =
  "status <> 'DELETED' AND (expires_at IS NULL OR expires_at > ?) AND (claim_by IS NULL OR claim_by > ?)";
const lookupSql = `SELECT * FROM file WHERE id = ? AND key = ? AND project_id = ? AND environment = ? AND ${isThere}`;
const listSql = `SELECT ${listed} FROM file WHERE project_id = ? AND environment = ? AND id < ? AND ${isThere} ORDER BY id DESC LIMIT ?`;

/** As PostgreSQL numbers them. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll("?", () => `$${++count}`);
}

/** What one would write for node:sqlite by hand, with the service's settings for durability. */
export function handWrittenSqlite(path: string): Side & { close(): void } {
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000",
  );
  const [lookup, list] = [db.prepare(lookupSql), db.prepare(listSql)];
  const columns = Object.keys(newFile(0));
  const insert = db.prepare(
    `INSERT INTO file (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  return {
    lookup: (i) => lookup.get(idOf(i), keyOf(i), projectId, environment, now, now),
    list: (i) => list.all(projectId, environment, idOf(i + take), now, now, take),
    insert(i) {
      begin.run();
      insert.run(...Object.values(newFile(i)));
      commit.run();
    },
    close: () => db.close(),
  };
}

/** And for `pg`, over connections of the same settings. */
export function handWrittenPostgres(
  url: string,
  maxConnections: number,
): Side & { close(): Promise<unknown> } {
  const pool = new pg.Pool({ ...settings(url), max: maxConnections });
  const [lookup, list] = [numbered(lookupSql), numbered(listSql)];
  const columns = Object.keys(newFile(0));
  const insert = `INSERT INTO file (${columns.join(", ")}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(", ")})`;
  return {
    lookup: async (i) =>
      (
        await pool.query({
          name: "lookup",
          text: lookup,
          values: [idOf(i), keyOf(i), projectId, environment, now, now],
        })
      ).rows[0],
    list: async (i) =>
      (
        await pool.query({
          name: "list",
          text: list,
          values: [projectId, environment, idOf(i + take), now, now, take],
        })
      ).rows,
    async insert(i) {
      const client = await pool.connect();
      await client.query("BEGIN");
      await client.query({ name: "insert", text: insert, values: Object.values(newFile(i)) });
      await client.query("COMMIT");
      client.release();
    },
    close: () => pool.end(),
  };
}
