import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { sql } from "#kysely";
import { pgbouncerMissing, startPgbouncer } from "../../../test/support/pgbouncer.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { statement } from "../src/db/statement.ts";
import { checkDatabase } from "../src/ops/doctor/check-database.ts";
import { createMigratedDatabase } from "./support/migrated-database.ts";
import { startApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";

const showTimeouts = statement((q, _: object) =>
  q.selectNoFrom([
    sql<string>`current_setting('statement_timeout')`.as("statement"),
    sql<string>`current_setting('idle_in_transaction_session_timeout')`.as("idle"),
  ]),
);

describe("PostgreSQL behind PgBouncer", { skip: pgbouncerMissing }, () => {
  async function startBehind(t: TestContext, mode: "session" | "transaction" | "statement") {
    const { url, drop } = await createMigratedDatabase();
    t.after(drop);
    const databaseUrl = await startPgbouncer(t, url, mode);
    const dataDir = await mkdtemp(join(tmpdir(), "upstow-pooler-"));
    t.after(() => rm(dataDir, { recursive: true }));
    const app = await startApp({ database: "postgres", reuse: { dataDir, databaseUrl } });
    return { app, databaseUrl };
  }

  it("works in session mode, with the time limits of a direct connection", async (t) => {
    const { app, databaseUrl } = await startBehind(t, "session");
    t.after(() => app.close());
    const client = createUploadClient(app, app.owner.live);
    const files = await Promise.all(Array.from({ length: 10 }, () => client.upload()));
    assert.equal((await client.list()).body.files.length, files.length);
    const db = openPostgres(databaseUrl, { maxConnections: 1 });
    t.after(() => db.close());
    assert.deepEqual(await db.get(showTimeouts, {}), { statement: "10s", idle: "2s" });
  });

  for (const mode of ["transaction", "statement"] as const) {
    it(`is refused at start in ${mode} mode, with the reason`, async (t) => {
      await assert.rejects(startBehind(t, mode), {
        name: "DatabaseUnavailable",
        message: /pooler shares connections between sessions/,
      });
    });
  }

  it("is no more usable in transaction mode to the doctor than to the service", async (t) => {
    const { url, drop } = await createMigratedDatabase();
    t.after(drop);
    const db = openPostgres(await startPgbouncer(t, url, "transaction"), { maxConnections: 1 });
    t.after(() => db.close());
    const { checks, isUsable } = await checkDatabase(db, false);
    assert.equal(isUsable, false);
    assert.match(checks.map((check) => check.message).join(), /pooler shares connections/);
  });
});
