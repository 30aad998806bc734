import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import postgres from "postgres";
import { inDialect } from "../src/db/migrate.ts";
import { createId } from "../src/kernel/ids.ts";
import { createApiKeySecret } from "../src/kernel/security/api-key-secret.ts";
import { createRowName } from "../src/storage/disk/blob-name.ts";
import { type KeptData, keepData } from "./support/keep-data.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { type DatabaseKind, onBothDatabases, startApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";

/** The version before private files, shared counters, the audit log, expiry and everything that came later. */
const last = "020-bounds";
const folder = new URL("../src/db/migrations/", import.meta.url);
const dayMs = 24 * 60 * 60 * 1000;

type Value = string | number | Uint8Array | null;

/** The tables as that version made them, and what it would have written. */
async function scriptsOf(
  dialect: "sqlite" | "postgres",
  rows: [table: string, row: Record<string, Value>][],
) {
  const scripts = ["CREATE TABLE migration (id TEXT PRIMARY KEY, applied_at BIGINT NOT NULL);\n"];
  for (const file of readdirSync(folder).sort()) {
    const id = file.replace(".ts", "");
    if (id > last) break;
    const made: Record<string, string> = await import(new URL(file, folder).href);
    if (dialect === "sqlite" || id !== "018-plain-checks") scripts.push(...Object.values(made));
    scripts.push(`INSERT INTO migration VALUES ('${id}', 1);`);
  }
  const write = (value: Value) => {
    if (value instanceof Uint8Array)
      return dialect === "sqlite" ? `X'${toHex(value)}'` : `'\\x${toHex(value)}'`;
    return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
  };
  const inserts = rows.map(
    ([table, row]) =>
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.values(row).map(write).join()});`,
  );
  return [...scripts.map((script) => inDialect(script, dialect)), ...inserts].join("\n");
}

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

onBothDatabases("a database of an earlier version", (database) => {
  it("goes on: keys, files, open uploads and counters", async (t) => {
    const kept = await keepData(database);
    t.after(() => kept.remove());
    const made = Date.now() - dayMs;
    const id = () => createId(made);
    const [account, project] = [id(), id()];
    const key = createApiKeySecret("live");
    const bytes = Buffer.from("from before");
    const file = (name: string, fields: Record<string, Value>) => {
      const fileId = id();
      return {
        ...{ id: fileId, key: `${project}/default/${fileId}/${name}`, project_id: project, name },
        ...{ environment: "live", route_slug: "default", size_bytes: bytes.length, type: "text/plain" },
        ...{ status: "UPLOADED", metadata: '{"from":"before"}', sha256: null, etag: null, store: "disk" },
        ...{ reap_at: Date.now() + dayMs, created_at: made, updated_at: made, ...fields },
      };
    };
    const object = (ofFile: { key: string }, state: "open" | "final") => {
      const blob = createRowName(made);
      const facts = { etag, sha256: hash("sha256", bytes), size_bytes: bytes.length };
      return [
        ["disk_small_blob", { blob, bytes }],
        ["disk_object", { key: ofFile.key, state, blob, damaged: 0, received_at: made, ...facts }],
      ] as [string, Record<string, Value>][];
    };
    const etag = hash("md5", bytes);
    const confirmed = { etag, sha256: hash("sha256", bytes), completed_at: made };
    const stored = [file("a.txt", confirmed), file("b.txt", confirmed)] as const;
    const open = file("open.txt", { status: "UPLOADING", reserved_period: period(made) });
    const gone = file("gone.txt", { status: "DELETED" });
    const times = { created_at: made, updated_at: made };
    const counted = { project_id: project, environment: "live" };
    await fill(database, kept, [
      ["account", { id: account, email: "before@example.com", tier: "free", project_count: 1, ...times }],
      [
        "project",
        {
          id: project,
          account_id: account,
          name: "Before",
          slug: "before-1",
          key_count: 1,
          route_count: 1,
          ...times,
        },
      ],
      [
        "file_route",
        { id: id(), project_id: project, slug: "default", allowed_types: "[]", environment: "all", ...times },
      ],
      [
        "api_key",
        {
          id: id(),
          project_id: project,
          name: "",
          type: "live",
          hash: key.hash,
          prefix: key.prefix,
          created_at: made,
        },
      ],
      ["usage_total", { ...counted, stored_bytes: 2 * bytes.length, reserved_bytes: bytes.length }],
      ["usage_total", { ...counted, environment: "test" }],
      ["usage_period", { ...counted, period: period(made), uploads: 2, reserved_uploads: 1 }],
      ...[...stored, open, gone].map((row): [string, Record<string, Value>] => ["file", row]),
      ...object(stored[0], "final"),
      ...object(stored[1], "final"),
      ...object(open, "open"),
    ]);

    const app = await startApp({ database, reuse: kept.reuse });
    t.after(() => app.close());
    const client = createUploadClient(app, key.secret);
    const { files } = (await client.list()).body;
    assert.deepEqual(
      files.map((item: { name: string; status: string; access: string; expiresAt: null }) => [
        item.name,
        item.status,
        item.access,
        item.expiresAt,
      ]),
      [
        ["open.txt", "UPLOADING", "public", null],
        ["b.txt", "UPLOADED", "public", null],
        ["a.txt", "UPLOADED", "public", null],
      ],
    );
    assert.equal((await client.list("?metadata.from=before&status=UPLOADED")).body.files.length, 2);
    const [a, b] = stored;
    const seen = (await client.get(a.key)).body.file;
    assert.deepEqual([seen.metadata, seen.sha256, seen.image], [{ from: "before" }, confirmed.sha256, null]);
    assert.deepEqual(await (await fetch(seen.url)).text(), bytes.toString());
    assert.equal((await client.patch(a.id, { access: "private", expiresIn: 60 })).status, 200);
    assert.equal((await fetch(seen.url)).status, 404);
    assert.equal((await client.complete(open.id)).body.file?.status, "UPLOADED");
    assert.equal((await client.remove(b.key)).status, 200);
    assert.equal((await client.get(gone.key)).status, 404);
    await client.upload();
    await assertCountersMatch(app, project, { live: 4 });
    const usage = (await app.call("GET", "usage", { key: key.secret })).body;
    assert.deepEqual([usage.tier, usage.usage.reservedUploads, usage.usage.reservedBytes], ["free", 0, 0]);
  });
});

const period = (ms: number) => new Date(ms).toISOString().slice(0, 7);

async function fill(
  database: DatabaseKind,
  { reuse }: KeptData,
  rows: [table: string, row: Record<string, Value>][],
): Promise<void> {
  const script = await scriptsOf(database, rows);
  if (reuse.databaseUrl === undefined) {
    const sqlite = new DatabaseSync(join(reuse.dataDir, "upstow.db"), { defensive: false });
    sqlite.exec(script);
    return sqlite.close();
  }
  const client = postgres(reuse.databaseUrl, { max: 1, onnotice: () => {} });
  await client.unsafe(script);
  await client.end();
}
