import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { openTestDatabase, type TestDatabase } from "../../../test/support/open-database.ts";
import { onBothDatabases } from "../../../test/support/start-app.ts";
import type { Database } from "../../db/database.ts";
import { inSteps, STEP_ROWS } from "../../db/job-leases.ts";
import { statement } from "../../db/statement.ts";
import { deleteOldCalls } from "../../http/idempotency-queries.ts";
import { deleteEndedWindows } from "../../http/rate-limiter/database.ts";
import { createId } from "../../kernel/ids.ts";
import { insertLog } from "./queries.ts";
import { forgetOldLogs } from "./retention.ts";

const dayMs = 24 * 60 * 60 * 1000;
const now = Date.parse("2026-11-17T12:00:00Z");
const { signal } = new AbortController();

const listLogs = statement((q, _: object) =>
  q.selectFrom("log").select(["project_id", "environment", "message"]).orderBy("id"),
);
const insertWindow = statement((q, p: { bucket: string; startedAt: number }) =>
  q.insertInto("rate_window").values({ bucket: p.bucket, started_at: p.startedAt, count: 1 }),
);
const listWindows = statement((q, _: object) => q.selectFrom("rate_window").select("bucket"));
const insertCall = statement((q, p: { scope: string; createdAt: number }) =>
  q.insertInto("idempotency").values({
    scope: p.scope,
    request_hash: "",
    claim: "",
    lease_until: 0,
    status: 200,
    response: "",
    created_at: p.createdAt,
  }),
);
const countCalls = statement((q, _: object) =>
  q.selectFrom("idempotency").select(sql<number>`count(*)`.as("count")),
);

/** The same database, which also notes how many rows each change had. */
function noteSteps(db: Database): { db: Database; steps: number[] } {
  const steps: number[] = [];
  const noting: Database = Object.create(db);
  noting.run = async (query, params) => {
    const changed = await db.run(query, params);
    steps.push(changed);
    return changed;
  };
  return { db: noting, steps };
}

onBothDatabases("what is kept for a time", (kind) => {
  let opened: TestDatabase;
  before(async () => {
    opened = await openTestDatabase(kind);
  });
  after(() => opened.close());

  it("is deleted from the logs of every project, in steps", async () => {
    const write = (projectId: string, environment: Environment, daysAgo: number, count: number) =>
      opened.db.transact(async (tx) => {
        const at = now - daysAgo * dayMs;
        for (let i = 0; i < count; i++)
          await tx.run(insertLog, {
            id: createId(at),
            project_id: projectId,
            environment,
            type: "file.uploaded",
            file_id: null,
            key: null,
            message: `${daysAgo} days`,
            data: "{}",
            created_at: at,
          });
      });
    await write("p1", "live", 31, 2 * STEP_ROWS + 7);
    await write("p1", "test", 400, 3);
    await write("p2", "test", 31, STEP_ROWS);
    await write("p1", "live", 29, 4);
    await write("p3", "live", 0, 5);
    const { db, steps } = noteSteps(opened.db);
    const deps = { db, now: () => now, config: { logRetentionDays: 30 } };
    await forgetOldLogs(deps, signal);
    assert.deepEqual(steps, [STEP_ROWS, STEP_ROWS, 7, 3, STEP_ROWS, 0, 0]);
    const left = (await opened.db.all(listLogs, {})).map((row) => `${row.project_id} ${row.message}`);
    assert.deepEqual(left, [...new Array(4).fill("p1 29 days"), ...new Array(5).fill("p3 0 days")]);
    await forgetOldLogs({ ...deps, config: { logRetentionDays: 1 } }, AbortSignal.abort());
    assert.equal((await opened.db.all(listLogs, {})).length, 9, "nothing once it was told to stop");
  });

  it("is deleted from rate windows and idempotency keys, in steps", async () => {
    const time = Date.now();
    await opened.db.transact(async (tx) => {
      for (let i = 0; i <= STEP_ROWS; i++) {
        await tx.run(insertWindow, { bucket: `ended ${i}`, startedAt: time - 120_000 });
        await tx.run(insertCall, { scope: `old ${i}`, createdAt: time - dayMs - 60_000 });
      }
      await tx.run(insertWindow, { bucket: "running", startedAt: time });
      await tx.run(insertCall, { scope: "new", createdAt: time });
    });
    const { db, steps } = noteSteps(opened.db);
    await inSteps((take) => db.run(deleteEndedWindows, { windowMs: 60_000, take }), signal);
    await inSteps((take) => db.run(deleteOldCalls, { take }), signal);
    assert.deepEqual(steps, [STEP_ROWS, 1, STEP_ROWS, 1]);
    const windows = await opened.db.all(listWindows, {});
    assert.deepEqual(
      windows.map(({ bucket }) => bucket),
      ["running"],
    );
    assert.deepEqual(await opened.db.get(countCalls, {}), { count: 1 });
  });
});
