import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

onBothDatabases("the trash in the dashboard", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let inLive: string;

  before(async () => {
    app = await startApp({ database });
  });
  beforeEach(async () => {
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    inLive = `/in/${tenant.projectId}/live`;
  });
  after(() => app.close());

  test("the trash says when each file was deleted and when it will be gone", async () => {
    const { projectId, live: key } = tenant;
    assert.equal(
      (await owner("PATCH", `/projects/${projectId}`, { trashDays: 3 })).body.project.trashDays,
      3,
    );
    const names = ["a", "b", "c"];
    for (const name of names) await uploadFile(app, "x", { key, name });
    const { files } = (await owner("GET", `${inLive}/search`)).body;
    const from = app.clock.now();
    await owner("POST", `${inLive}/files/delete`, { ids: files.map((file: { id: string }) => file.id) });
    const until = app.clock.now();
    const first = (await owner("GET", `${inLive}/trash?limit=2`)).body;
    const rest = (await owner("GET", `${inLive}/trash?limit=2&cursor=${first.nextCursor}`)).body;
    const trashed = [...first.files, ...rest.files];
    assert.deepEqual(
      trashed.map(({ name }) => name),
      names.toReversed(),
    );
    for (const { deletedAt, purgeAt } of trashed) {
      const at = Date.parse(deletedAt);
      assert.ok(from <= at && at <= until, deletedAt);
      assert.equal(Date.parse(purgeAt) - at, 3 * 86_400_000);
    }
    assert.equal((await owner("GET", "/projects")).body.projects[0].trashDays, 3);
  });

  test("what was restored meanwhile is not deleted with the rest of the trash", async () => {
    const { projectId, live: key } = tenant;
    await owner("PATCH", `/projects/${projectId}`, { trashDays: 3 });
    for (const name of ["a", "b"]) await uploadFile(app, "x", { key, name });
    const { files } = (await owner("GET", `${inLive}/search`)).body;
    const ids: string[] = files.map((file: { id: string }) => file.id);
    await owner("POST", `${inLive}/files/delete`, { ids });
    const [b, a] = files;
    await owner("POST", `${inLive}/files/restore`, { keys: [a.id] });
    assert.deepEqual((await owner("POST", `${inLive}/trash/delete`, { ids })).body, { deleted: 1 });
    assert.deepEqual((await owner("GET", `${inLive}/trash`)).body.files, []);
    assert.equal(await (await fetch(a.url)).text(), "x");
    assert.equal((await owner("POST", `${inLive}/files/restore`, { keys: [b.id] })).status, 404);
    assert.equal((await app.call("GET", "usage", { key })).body.usage.storageBytes, 1);
  });
});
