import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { migrate } from "./migrate.ts";
import { diskStore } from "./migrations/003-disk-store.ts";
import { webhooks } from "./migrations/004-webhooks.ts";
import { plainChecks } from "./migrations/018-plain-checks.ts";
import { openSqlite } from "./sqlite/sqlite.ts";

const states = {
  disk_object: ["open", "final", "gone"],
  webhook_message: ["recorded", "ready", "leased", "delivered", "dead"],
};
const values = {
  disk_object: (key: string, state: string) =>
    `(key, state, size_bytes, damaged) VALUES ('${key}', '${state}', 1, 0)`,
  webhook_message: (id: string, state: string) =>
    `(id, project_id, environment, seq, event, file_id, route_slug, body, state, attempt_count, retried, retries_allowed,
      interruptions, run_at, created_at)
     VALUES ('${id}', 'p', 'live', ${id.length}, 'e', '${id}', 'r', '{}', '${state}', 0, 0, 0, 0, 0, 0)`,
};
const tables = ["disk_object", "webhook_message"] as const;

describe("the checks of states on SQLite", () => {
  it("hold as before, for old rows and new, without a table in memory for each row", () => {
    const db = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false, defensive: false });
    const insert = (table: (typeof tables)[number], id: string, state: string) =>
      db.prepare(`INSERT INTO ${table} ${values[table](id, state)}`);
    const program = (table: (typeof tables)[number]) =>
      db
        .prepare(`EXPLAIN INSERT INTO ${table} ${values[table]("x", "y")}`)
        .all()
        .map(({ opcode }) => opcode);
    db.exec(diskStore + webhooks);
    for (const table of tables) {
      insert(table, "old", states[table][0] ?? "").run();
      assert.ok(program(table).includes("OpenEphemeral"));
    }
    db.exec(plainChecks);
    for (const table of tables) {
      assert.ok(!program(table).includes("OpenEphemeral"));
      assert.throws(() => insert(table, "unknown", "unknown").run(), { errcode: 275 });
      for (const state of states[table]) insert(table, `${state}-`, state).run();
      assert.throws(() => db.exec(`UPDATE ${table} SET state = 'unknown'`), { errcode: 275 });
      const kept = db
        .prepare(`SELECT state FROM ${table}`)
        .all()
        .map(({ state }) => state);
      assert.deepEqual(kept, [states[table][0], ...states[table]]);
    }
    assert.deepEqual({ ...db.prepare("PRAGMA integrity_check").get() }, { integrity_check: "ok" });
    db.close();
  });

  it("are so in every migrated database", async () => {
    const folder = await mkdtemp(join(tmpdir(), "upstow-checks-"));
    const path = join(folder, "test.db");
    const db = openSqlite(path);
    await migrate(db);
    await db.close();
    const reader = new DatabaseSync(path, { readOnly: true });
    for (const table of tables) {
      const program = reader.prepare(`EXPLAIN INSERT INTO ${table} ${values[table]("x", "y")}`).all();
      assert.ok(program.every(({ opcode }) => opcode !== "OpenEphemeral"));
    }
    reader.close();
    await rm(folder, { recursive: true });
  });
});
