import { DatabaseSync } from "node:sqlite";
import type { Database } from "../../packages/server/src/db/database.ts";
import { createClient } from "../../packages/server/src/db/postgres/postgres.ts";
import { findFile, listFileRows } from "../../packages/server/src/files/queries.ts";
import { insertFile } from "../../packages/server/src/files/uploads/queries.ts";

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
});

/** The service's own statements, through its own interface to databases. */
export function compiledSide(db: Database): Side {
  return {
    lookup: (i) => db.get(findFile, { id: idOf(i), key: keyOf(i), projectId, environment }),
    list: (i) => db.all(listFileRows, { projectId, environment, before: idOf(i + take), take }),
    insert: (i) => db.transact((tx) => tx.run(insertFile, newFile(i))),
  };
}

/** What one would write for node:sqlite by hand, with the service's settings for durability. */
export function handWrittenSqlite(path: string): Side & { close(): void } {
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000",
  );
  const lookup = db.prepare(
    "SELECT * FROM file WHERE id = ? AND key = ? AND project_id = ? AND environment = ? AND status <> 'DELETED'",
  );
  const list = db.prepare(
    "SELECT id, key, name, size_bytes, type, status, sha256, created_at FROM file WHERE project_id = ? AND environment = ? AND status <> 'DELETED' AND id < ? ORDER BY id DESC LIMIT ?",
  );
  const columns = Object.keys(newFile(0));
  const insert = db.prepare(
    `INSERT INTO file (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
  );
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  return {
    lookup: (i) => lookup.get(idOf(i), keyOf(i), projectId, environment),
    list: (i) => list.all(projectId, environment, idOf(i + take), take),
    insert(i) {
      begin.run();
      insert.run(...Object.values(newFile(i)));
      commit.run();
    },
    close: () => db.close(),
  };
}

/** And for postgres.js, over connections of the same settings. */
export function handWrittenPostgres(
  url: string,
  maxConnections: number,
): Side & { close(): Promise<unknown> } {
  const sql = createClient(url, maxConnections);
  return {
    lookup: async (i) =>
      (
        await sql`SELECT * FROM file WHERE id = ${idOf(i)} AND key = ${keyOf(i)} AND project_id = ${projectId}
          AND environment = ${environment} AND status <> 'DELETED'`
      )[0],
    list: (i) => sql`SELECT id, key, name, size_bytes, type, status, sha256, created_at FROM file
      WHERE project_id = ${projectId} AND environment = ${environment}
      AND status <> 'DELETED' AND id < ${idOf(i + take)} ORDER BY id DESC LIMIT ${take}`,
    insert(i) {
      const f = newFile(i);
      return sql.begin(
        (
          tx,
        ) => tx`INSERT INTO file (id, key, project_id, environment, route_slug, name, size_bytes, type, status,
          metadata, sha256, etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)
          VALUES (${f.id}, ${f.key}, ${f.project_id}, ${f.environment}, ${f.route_slug}, ${f.name}, ${f.size_bytes},
          ${f.type}, ${f.status}, ${f.metadata}, ${f.sha256}, ${f.etag}, ${f.store}, ${f.upload_id},
          ${f.reserved_period}, ${f.reap_at}, ${f.created_at}, ${f.updated_at}, ${f.completed_at})`,
      );
    },
    close: () => sql.end(),
  };
}
