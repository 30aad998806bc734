import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { expectError } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

onBothDatabases("a file by its id", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let others: UploadClient[];
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    const stranger = await app.createTenant("pro");
    others = [createUploadClient(app, tenant.test), createUploadClient(app, stranger.live)];
  });
  after(async () => {
    await assertCountersMatch(app, tenant.projectId);
    await app.close();
  });

  it("is the file that its key names", async () => {
    const file = await client.upload(smallBody, { metadata: { a: 1 } });
    const byId = await client.get(file.id);
    assert.equal(byId.status, 200);
    assert.deepEqual(byId.body, (await client.get(file.key)).body);
    const patched = await client.patch(file.id, { metadata: { b: 2 } });
    assert.deepEqual([patched.status, patched.body.file.metadata], [200, { b: 2 }]);
    const removed = await client.remove(file.id);
    assert.deepEqual([removed.status, removed.body], [200, { ok: true }]);
    assert.equal((await fetch(file.url)).status, 404);
    for (const answer of [
      await client.get(file.id),
      await client.patch(file.id, { metadata: {} }),
      await client.remove(file.id),
    ])
      expectError(answer, 404, "NOT_FOUND");
  });

  it("is nothing to another project or environment", async () => {
    const file = await client.upload();
    for (const other of others) {
      expectError(await other.get(file.id), 404, "NOT_FOUND");
      expectError(await other.patch(file.id, { metadata: {} }), 404, "NOT_FOUND");
      expectError(await other.remove(file.id), 404, "NOT_FOUND");
      assert.deepEqual((await other.removeAll([file.id])).body.deleted, 0);
    }
    assert.equal((await client.get(file.id)).status, 200);
  });

  it("is deleted in bulk beside keys, and once where it is named twice", async () => {
    const [a, b, c] = [await client.upload(), await client.upload(), await client.upload()];
    const all = await client.removeAll([a.id, a.key, b.key, b.id]);
    assert.deepEqual(
      [all.status, all.body],
      [200, { deleted: 2, failed: 0, failures: [], reclaimedBytes: 2 * smallBody.length }],
    );
    const some = await client.removeAll([a.id, c.id, "nope"]);
    assert.deepEqual([some.status, some.body.deleted, some.body.failed], [207, 1, 2]);
    assert.deepEqual(
      some.body.failures.map((failure: { key: string }) => failure.key),
      [a.id, "nope"],
    );
  });

  it("is not found by half an id, an id in other letters, or a key with another file's id", async () => {
    const [a, b] = [await client.upload(), await client.upload()];
    const mixed = a.key.replace(a.id, b.id).replace("hello.txt", "other.txt");
    for (const name of [a.id.slice(1), `${a.id}0`, a.id.toUpperCase(), `/${a.id}`, `${a.id}/`, mixed])
      expectError(await client.get(name), 404, "NOT_FOUND");
    assert.equal(
      (await fetch(a.url.replace(/\/f\/.*/, `/f/${a.id}`))).status,
      404,
      "delivery knows keys only",
    );
  });
});
