import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { putMember } from "../src/dashboard/members/queries.ts";
import { enterReadOnly, leaveReadOnly } from "../src/http/read-only.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { keepData } from "./support/keep-data.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { createUploadClient } from "./support/upload-client.ts";

onAnyDatabase("what a deleted project left behind", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let payer: ConsoleCall;
  let purge: string;

  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  beforeEach(async () => {
    tenant = await app.createTenant("pro");
    payer = await signInAs(app, tenant.accountId);
    purge = `/projects/${tenant.projectId}/purge`;
  });

  const deleteProject = async (id = tenant.projectId) =>
    assert.equal((await payer("DELETE", `/projects/${id}`)).status, 200);
  const list = async (call = payer) => {
    const { status, body } = await call("GET", "/projects/deleted");
    assert.equal(status, 200, JSON.stringify(body));
    return body.projects;
  };
  const statusOf = async (file: { url: string }) => (await fetch(file.url)).status;

  test("is listed with its size, served until it is purged, and gone then", async () => {
    const files = [
      await uploadFile(app, "12345", { key: tenant.live }),
      await uploadFile(app, "1234567", { key: tenant.test }),
    ];
    const gone = await uploadFile(app, "123", { key: tenant.live });
    const uploads = createUploadClient(app, tenant.live);
    assert.equal((await uploads.remove(gone.key)).status, 200);
    await uploads.request();
    assert.deepEqual(await list(), []);
    await deleteProject();
    const [left, ...others] = await list();
    assert.deepEqual(others, []);
    const { deletedAt, slug, ...rest } = left;
    const holds = { files: 3, hasMoreFiles: false, storedBytes: 12 };
    assert.deepEqual(rest, { id: tenant.projectId, name: "tenant", ...holds });
    assert.match(slug, /^tenant-/);
    assert.ok(Math.abs(Date.parse(deletedAt) - app.clock.now()) < 60 * 60 * 1000);
    assert.deepEqual(await Promise.all(files.map(statusOf)), [200, 200]);

    const purged = await payer("POST", purge);
    assert.equal(purged.status, 200, JSON.stringify(purged.body));
    assert.deepEqual(purged.body, { id: tenant.projectId, deletedFiles: 3, reclaimedBytes: 12 });
    assert.deepEqual(await Promise.all(files.map(statusOf)), [404, 404]);
    assert.deepEqual(await list(), []);
    assert.equal((await payer("POST", purge)).body.deletedFiles, 0);
  });

  test("is nobody's but the account's that pays, and nothing is purged of a project in use", async () => {
    const file = await uploadFile(app, "12345", { key: tenant.live });
    const second = await app.createTenant("pro");
    const { projectId } = tenant;
    await app.app.deps.db.run(putMember, { projectId, accountId: second.accountId, role: "owner", now: 0 });
    const inUse = await payer("POST", purge);
    assert.deepEqual([inUse.status, inUse.body.error.code], [400, "VALIDATION_ERROR"]);
    await deleteProject();
    for (const accountId of [second.accountId, app.owner.accountId]) {
      const other = await signInAs(app, accountId);
      assert.deepEqual(await list(other), []);
      const refused = await other("POST", purge);
      assert.deepEqual([refused.status, refused.body.error.message], [404, "Project not found."]);
    }
    assert.equal((await payer("POST", `/projects/${"0".repeat(26)}/purge`)).status, 404);
    assert.equal(await statusOf(file), 200);
  });

  test("is listed newest first, while there is anything of it", async () => {
    const made: string[] = [];
    for (const name of ["never used", "signs webhooks", "holds files"]) {
      made.push((await payer("POST", "/projects", { name })).body.project.id);
    }
    const [unused = "", signing = "", holding = ""] = made;
    assert.equal((await payer("GET", `/in/${signing}/live/webhooks/signing-keys`)).status, 200);
    await insertManyFiles(app, { projectId: holding, count: 250 });
    for (const id of [holding, unused, signing]) {
      await deleteProject(id);
      app.clock.advance(1000);
    }
    const shown = (await list()).map((project: { id: string; files: number }) => [project.id, project.files]);
    assert.deepEqual(shown, [
      [signing, 0],
      [holding, 250],
    ]);
    assert.equal((await payer("POST", `/projects/${holding}/purge`)).body.deletedFiles, 250);
    assert.equal((await payer("POST", `/projects/${signing}/purge`)).body.deletedFiles, 0);
    assert.deepEqual(await list(), []);
  });

  test("is counted up to a bound, and to the end where that is near", async () => {
    const count = 1_000;
    await insertManyFiles(app, { projectId: tenant.projectId, count });
    const { id } = (await payer("POST", "/projects", { name: "larger" })).body.project;
    await insertManyFiles(app, { projectId: id, count: count + 1 });
    await deleteProject();
    app.clock.advance(1000);
    await deleteProject(id);
    const shown = (await list()).map((project: Record<string, unknown>) => [
      project["name"],
      project["files"],
      project["hasMoreFiles"],
    ]);
    assert.deepEqual(shown, [
      ["larger", count, true],
      ["tenant", count, false],
    ]);
  });

  test("stays whole while nothing may change", async () => {
    await uploadFile(app, "12345", { key: tenant.live });
    await deleteProject();
    const { db } = app.app.deps;
    await enterReadOnly(db, "storage", Date.now());
    assert.equal((await payer("POST", purge)).status, 503);
    assert.equal((await list()).length, 1);
    await leaveReadOnly(db, "storage");
  });

  test("is purged in part when the service stops, and the rest of it later", async (t) => {
    const kept = await keepData(database);
    t.after(() => kept.remove());
    const first = await startApp({ database, reuse: kept.reuse });
    const { accountId, projectId } = first.owner;
    const count = 5_000;
    await insertManyFiles(first, { projectId, count });
    const before = await signInAs(first, accountId);
    await before("DELETE", `/projects/${projectId}`);
    const [whole] = await list(before);
    const purging = before("POST", `/projects/${projectId}/purge`);
    while ((await list(before))[0].storedBytes === whole.storedBytes);
    await first.close();
    const { status, body } = await purging;
    assert.equal(status, 503, JSON.stringify(body));
    const deleted = Number(/; (\d+) files were deleted/.exec(body.error.message)?.[1]);
    assert.ok(deleted > 0 && deleted < count, body.error.message);

    const second = await startApp({ database, reuse: kept.reuse });
    t.after(() => second.close());
    const later = await signInAs(second, accountId);
    const rest = await later("POST", `/projects/${projectId}/purge`);
    assert.equal(rest.body.deletedFiles, count - deleted);
    assert.deepEqual(await list(later), []);
  });
});
