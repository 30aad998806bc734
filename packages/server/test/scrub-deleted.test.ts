import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { STEP_ROWS } from "../src/db/job-leases.ts";
import { statement } from "../src/db/statement.ts";
import { tableNames } from "../src/db/table-names.ts";
import { scrubDeletedFiles } from "../src/files/scrub-deleted.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { sweepDisk } from "../src/ops/storage-upkeep.ts";
import { forgetOldLogs } from "../src/projects/logs/retention.ts";
import type { DiskStore } from "../src/storage/disk/disk-store.ts";
import { forgetOldMessages } from "../src/webhooks/retention.ts";
import { createSessionToken } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { uploadFile } from "./support/upload.ts";

const dayMs = 24 * 60 * 60 * 1000;
const { signal } = new AbortController();

const findRow = statement((q, p: { id: string }) => q.selectFrom("file").selectAll().where("id", "=", p.id));
const deleteAll = statement((q, p: { projectId: string; now: number }) =>
  q.updateTable("file").set({ status: "DELETED", updated_at: p.now }).where("project_id", "=", p.projectId),
);
const failAll = statement((q, p: { projectId: string }) =>
  q.updateTable("file").set({ status: "FAILED" }).where("project_id", "=", p.projectId),
);
const countNamed = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("file")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("project_id", "=", p.projectId)
    .where("name", "<>", ""),
);

onBothDatabases("what people wrote about a file", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  it("goes after the retention of logs once the file is deleted, and stays where it is not", async () => {
    const tenant = await app.createTenant("pro");
    const { deps } = app.app;
    const upload = (name: string) =>
      uploadFile(app, "hello", { key: tenant.live, name, metadata: { patient: `${name}-metadata` } });
    const [kept, gone] = [await upload("kept-report.txt"), await upload("secret-report.txt")];
    const headers = {
      origin: app.url,
      cookie: `upstow_session=${await createSessionToken(app, tenant.accountId)}`,
    };
    const path = `/dashboard/api/in/${tenant.projectId}/live/files/${gone.id}`;
    assert.equal(
      (await app.call("PATCH", path, { headers, body: { audience: "secret-audience" } })).status,
      200,
    );
    assert.equal((await app.call("DELETE", path, { headers })).status, 200);
    const before = await deps.db.get(findRow, { id: gone.id });

    app.clock.advance(89 * dayMs);
    await scrubDeletedFiles(deps, signal);
    assert.deepEqual(await deps.db.get(findRow, { id: gone.id }), before);

    app.clock.advance(2 * dayMs);
    await scrubDeletedFiles(deps, signal);
    assert.deepEqual(await deps.db.get(findRow, { id: gone.id }), {
      ...before,
      name: "",
      metadata: "{}",
      audience: null,
      key: `${tenant.projectId}/default/${gone.id}/`,
    });
    const left = await app.call("GET", `files/${kept.id}`, { key: tenant.live });
    assert.deepEqual([left.body.file.name, left.body.file.key], ["kept-report.txt", kept.key]);
    for (const name of [gone.id, gone.key])
      expectError(
        await app.call("GET", `files/${encodeURIComponent(name)}`, { key: tenant.live }),
        404,
        "NOT_FOUND",
      );
    assert.equal((await fetch(gone.url)).status, 404);
    await assertCountersMatch(app, tenant.projectId);

    await forgetOldLogs(deps, signal);
    await forgetOldMessages(deps, signal);
    if (onDisk) await sweepDisk(deps.store as DiskStore, deps);
    const tables = await readEveryTable(app);
    const holding = (text: string) =>
      tables.filter(({ rows }) => JSON.stringify(rows).includes(text)).map(({ table }) => table);
    assert.ok(holding("kept-report.txt").includes("file"));
    assert.deepEqual([holding("secret-report"), holding("secret-audience")], [[], []]);
  });

  it("goes with a failed upload, which is listed with it until then", async () => {
    const tenant = await app.createTenant("pro");
    const { deps } = app.app;
    const requested = await app.call("POST", "upload/request", {
      key: tenant.live,
      body: {
        routeSlug: "default",
        fileName: "failed-report.txt",
        fileSize: 5,
        contentType: "text/plain",
        metadata: { patient: "failed-metadata" },
      },
    });
    assert.equal(requested.status, 200, JSON.stringify(requested.body));
    const id = requested.body.fileId;
    app.clock.advance(2 * dayMs);
    await reapAbandonedUploads(deps, signal);
    await runDeletions(deps);
    const list = async () => {
      const { body } = await app.call("GET", "files?status=FAILED", { key: tenant.live });
      return body.files.map(({ name }: { name: string }) => name);
    };
    app.clock.advance(89 * dayMs);
    await scrubDeletedFiles(deps, signal);
    assert.deepEqual(await list(), ["failed-report.txt"]);

    app.clock.advance(2 * dayMs);
    await scrubDeletedFiles(deps, signal);
    assert.deepEqual(await list(), []);
    expectError(await app.call("GET", `files/${id}`, { key: tenant.live }), 404, "NOT_FOUND");
    const row = await deps.db.get(findRow, { id });
    assert.deepEqual([row?.status, row?.name, row?.metadata], ["DELETED", "", "{}"]);
    assert.equal(row?.key, `${tenant.projectId}/default/${id}/`);
    await assertCountersMatch(app, tenant.projectId, { live: 0 });
    await forgetOldLogs(deps, signal);
    await deletionsDone(app);
    if (onDisk) await sweepDisk(deps.store as DiskStore, deps);
    const tables = await readEveryTable(app);
    const holding = tables.filter(({ rows }) => /failed-(report|metadata)/.test(JSON.stringify(rows)));
    assert.deepEqual(
      holding.map(({ table }) => table),
      [],
    );
  });

  it("goes in slices", async () => {
    const { projectId } = await app.createTenant("pro");
    const { deps } = app.app;
    await insertManyFiles(app, { projectId, count: 2 * STEP_ROWS + 7 });
    await deps.db.run(deleteAll, { projectId, now: app.clock.now() - 91 * dayMs });
    const changed: number[] = [];
    const noting: typeof deps.db = Object.create(deps.db);
    noting.run = async (query, params) => {
      const rows = await deps.db.run(query, params);
      changed.push(rows);
      return rows;
    };
    await scrubDeletedFiles({ ...deps, db: noting }, signal);
    assert.deepEqual(changed, [STEP_ROWS, STEP_ROWS, 7, 0]);
    assert.equal(Number((await deps.db.get(countNamed, { projectId }))?.count), 0);
    changed.length = 0;
    await deps.db.run(failAll, { projectId });
    await scrubDeletedFiles({ ...deps, db: noting }, signal);
    assert.deepEqual(changed, [0, STEP_ROWS, STEP_ROWS, 7]);
    changed.length = 0;
    await scrubDeletedFiles({ ...deps, db: noting }, signal);
    assert.deepEqual(changed, [0, 0], "nothing is left to do");
  });
});

async function readEveryTable(app: TestApp): Promise<{ table: string; rows: unknown[] }[]> {
  const { db } = app.app.deps;
  return Promise.all(
    tableNames.map(async (name) => {
      const everything = statement((q, _: object) => q.selectFrom(name as "file").selectAll());
      return { table: name, rows: await db.all(everything, {}) };
    }),
  );
}
