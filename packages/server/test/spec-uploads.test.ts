import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { GB, MB, type TierName } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, partPieces, put, putParts, smallBody } from "./support/upload-client.ts";
import { createTenantClients } from "./support/upload-life.ts";

const minuteMs = 60_000;
const findStatus = statement((q, p: { id: string }) =>
  q.selectFrom("file").select(["status", "key"]).where("id", "=", p.id),
);

onBothDatabases("uploads as the contract states them", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const itOnDisk = onlyOnDisk("a bucket judges expiry by its own clock");
  const rowOf = (id: string) => app.app.deps.db.get(findStatus, { id });

  itOnDisk("accepts a PUT for 15 minutes, and a part for an hour", async () => {
    const { client } = await createTenantClients(app);
    const start = Math.floor(app.clock.now() / 1000) * 1000;
    app.clock.setTime(start);
    const single = await client.request();
    const { parts } = await client.init();
    const [first, second] = parts;
    const [piece = smallBody] = partPieces();
    app.clock.setTime(start + 15 * minuteMs - 1000);
    assert.equal((await put(single.uploadUrl, smallBody)).status, 200);
    app.clock.setTime(start + 15 * minuteMs + 1000);
    assert.equal((await put(single.uploadUrl, smallBody)).status, 403);
    app.clock.setTime(start + 60 * minuteMs - 1000);
    assert.equal((await put(first?.uploadUrl ?? "", piece)).status, 200);
    app.clock.setTime(start + 60 * minuteMs + 1000);
    assert.equal((await put(second?.uploadUrl ?? "", piece)).status, 403);
  });

  it("accepts the tier's largest file and not one byte more, in both flows", async () => {
    const largest: [TierName, number][] = [
      ["free", 4 * MB],
      ["pro", 512 * MB],
      ["team", 5 * GB],
      ["enterprise", 10 * GB],
    ];
    for (const [tier, most] of largest) {
      const client = createUploadClient(app, (await app.createTenant(tier)).live);
      if (tier !== "enterprise") assert.equal((await client.requestAnswer({ fileSize: most })).status, 200);
      if (tier !== "free") assert.equal((await client.initAnswer({ fileSize: most })).status, 200);
      expectError(await client.requestAnswer({ fileSize: most + 1 }), 403, "TIER_LIMIT_EXCEEDED");
      // Multipart starts above Free's largest file.
      const over = Math.max(most, 10 * MB) + 1;
      expectError(await client.initAnswer({ fileSize: over }), 403, "TIER_LIMIT_EXCEEDED");
    }
  });

  it("keeps the record of a deleted file, and nothing of it in storage", async () => {
    const { client } = await createTenantClients(app);
    const { store } = app.app.deps;
    const file = await client.upload();
    const inBulk = await client.upload();
    const parts = await client.uploadPieces(partPieces());
    assert.notEqual(await store.head(file.key), null);
    assert.equal((await client.remove(file.key)).status, 200);
    assert.equal((await client.removeAll([inBulk.key, parts.key])).status, 200);
    await deletionsDone(app);
    for (const { id, key } of [file, inBulk, parts]) {
      assert.deepEqual(await rowOf(id), { status: "DELETED", key });
      assert.equal(await store.head(key), null);
    }
  });

  it("removes the record and the parts of an aborted upload", async () => {
    const { client } = await createTenantClients(app);
    const upload = await client.init();
    await putParts(upload, partPieces());
    assert.equal((await rowOf(upload.fileId))?.status, "UPLOADING");
    assert.equal((await client.abort(upload)).status, 200);
    await deletionsDone(app);
    const { store } = app.app.deps;
    assert.deepEqual(await store.listParts({ key: upload.key, uploadId: upload.uploadId }), null);
    assert.equal(await store.head(upload.key), null);
    assert.equal(await rowOf(upload.fileId), null);
  });

  it("rejects multipart calls without fileId or uploadId", async () => {
    const { client } = await createTenantClients(app);
    const { fileId, uploadId } = await client.init();
    const whole = { fileId, uploadId, parts: [{ partNumber: 1, etag: "x" }] };
    for (const field of ["fileId", "uploadId"]) {
      for (const call of ["complete", "abort"]) {
        const path = `upload/multipart/${call}`;
        expectInvalid(await client.post(path, { ...whole, [field]: undefined }), field);
        expectInvalid(await client.post(path, { ...whole, [field]: 7 }), field);
      }
    }
    assert.equal((await client.abort({ fileId, uploadId })).status, 200);
  });

  it("deletes nothing where a key names no file", async () => {
    const { tenant, client } = await createTenantClients(app);
    const kept = await client.upload();
    for (const key of ["none", `${tenant.projectId}/default/none/hello.txt`, `${kept.key}x`])
      expectError(await client.remove(key), 404, "NOT_FOUND");
    assert.equal((await client.usage()).storageBytes, kept.size);
    assert.equal(await (await fetch(kept.url)).text(), smallBody.toString());
  });

  it("stores metadata given at the request or at init, and replaces it at completion", async () => {
    const { client } = await createTenantClients(app);
    for (const [given, expected] of [
      [undefined, { from: "start" }],
      [{ to: "end" }, { to: "end" }],
    ]) {
      const metadata = { from: "start" };
      const upload = await client.init({ metadata });
      assert.deepEqual((await client.get(upload.key)).body.file.metadata, metadata);
      const done = await client.completeParts(upload, await putParts(upload, partPieces()), given);
      assert.deepEqual(done.body.file.metadata, expected);
      const single = await client.request({ metadata });
      assert.deepEqual((await client.get(single.key)).body.file.metadata, metadata);
    }
  });

  it("gives each project quotas of its own", async () => {
    const tenant = await app.createTenant("free");
    const made = await app.call("POST", "projects", {
      key: tenant.live,
      body: { name: "second", createKeys: ["live"] },
    });
    const fill = statement((q, p: { projectId: string; bytes: number }) =>
      q
        .updateTable("usage_total")
        .set({ stored_bytes: p.bytes })
        .where("project_id", "=", p.projectId)
        .where("environment", "=", "live"),
    );
    await app.app.deps.db.run(fill, { projectId: tenant.projectId, bytes: 5 * GB });
    const first = createUploadClient(app, tenant.live);
    expectError(await first.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
    const second = createUploadClient(app, made.body.keys[0].secret);
    assert.equal((await second.requestAnswer()).status, 200);
    assert.equal((await second.usage()).storageBytes, 0);
  });
});
