import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { GB, MB, type TierName } from "@upstow/contract";
import sharp from "sharp";
import { statement } from "../src/db/statement.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { requestHead, sendRaw } from "./support/raw-http.ts";
import { deletionsDone } from "./support/recount.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, partPieces, put, putParts, smallBody } from "./support/upload-client.ts";
import { createTenantClients } from "./support/upload-life.ts";

const minuteMs = 60_000;
const onePixel = await sharp({ create: { width: 1, height: 1, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();
const findStatus = statement((q, p: { id: string }) =>
  q.selectFrom("file").select(["status", "key"]).where("id", "=", p.id),
);

onAnyDatabase("uploads as the contract states them", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const itOnDisk = onlyOnDisk("a bucket judges expiry by its own clock");
  const rowOf = (id: string) => app.app.deps.db.get(findStatus, { id });

  itOnDisk("accepts a PUT for 15 minutes, and a part for an hour", async () => {
    // With a clock of its own, which stands still.
    const stopped = await startApp({ database });
    try {
      const { client } = await createTenantClients(stopped);
      const start = Math.floor(stopped.clock.now() / 1000) * 1000;
      const statusAt = async (afterSec: number, url = "", body: Uint8Array = smallBody) => {
        stopped.clock.setTime(start + afterSec * 1000);
        return (await put(url, body)).status;
      };
      stopped.clock.setTime(start);
      const single = await client.request();
      const [first, second] = (await client.init()).parts;
      const [piece] = partPieces();
      assert.equal(await statusAt(899, single.uploadUrl), 200);
      assert.equal(await statusAt(901, single.uploadUrl), 403);
      assert.equal(await statusAt(3599, first?.uploadUrl, piece), 200);
      assert.equal(await statusAt(3601, second?.uploadUrl, piece), 403);
    } finally {
      await stopped.close();
    }
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

  it("keeps the files of a deleted route, and takes no new ones", async () => {
    const { tenant, client } = await createTenantClients(app);
    const { body } = await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug: "gone" },
    });
    const file = await client.upload(smallBody, { routeSlug: "gone" });
    const removed = await app.call("DELETE", `routers/${body.router.id}`, { key: tenant.live });
    assert.deepEqual([removed.status, removed.body], [200, { ok: true }]);
    expectError(await client.requestAnswer({ routeSlug: "gone" }), 404, "NOT_FOUND");
    expectError(await client.initAnswer({ routeSlug: "gone" }), 404, "NOT_FOUND");
    assert.equal((await client.get(file.key)).status, 200);
    assert.equal(await (await fetch(file.url)).text(), smallBody.toString());
  });

  it("logs what happens to files, keys and variants", async () => {
    const { tenant, client } = await createTenantClients(app);
    const file = await client.upload(onePixel, { fileName: "dot.png", contentType: "image/png" });
    await client.patch(file.key, { metadata: { a: 1 } });
    assert.equal((await client.post("transforms/image", { key: file.key, width: 1 })).status, 200);
    await client.remove(file.key);
    await client.abort(await client.init());
    const abandoned = await client.request();
    app.clock.advance(30 * minuteMs);
    await reapAbandonedUploads(app.app.deps);
    const keys = `projects/${tenant.projectId}/keys`;
    const { key } = (await app.call("POST", keys, { key: tenant.live, body: {} })).body;
    await app.call("DELETE", `keys/${key.id}`, { key: tenant.live });
    const { logs } = (await app.call("GET", "logs?limit=100", { key: tenant.live })).body;
    const typesOf = (id: string) =>
      logs.filter((log: { fileId?: string }) => log.fileId === id).map((log: { type: string }) => log.type);
    assert.deepEqual(typesOf(file.id), [
      ...["file.deleted", "transform.created", "file.updated", "upload.completed", "upload.requested"],
    ]);
    assert.deepEqual(typesOf(abandoned.fileId), ["upload.failed", "upload.requested"]);
    const types = new Set(logs.map((log: { type: string }) => log.type));
    for (const type of ["upload.aborted", "key.created", "key.revoked"]) assert.ok(types.has(type), type);
  });

  itOnDisk("answers 411 to a PUT without a length", async () => {
    const { client } = await createTenantClients(app);
    const { uploadUrl, fileId } = await client.request();
    const { pathname } = new URL(uploadUrl);
    const headers = ["Content-Type: text/plain", "Transfer-Encoding: chunked"];
    const chunked = `${requestHead("PUT", pathname, headers)}b\r\nhello bytes\r\n0\r\n\r\n`;
    assert.equal((await sendRaw(app.url, chunked)).status, 411);
    expectError(await client.complete(fileId), 422, "FILE_NOT_IN_STORAGE");
  });

  it("takes a part of any type and length", async () => {
    const { client } = await createTenantClients(app);
    const upload = await client.init({ contentType: "video/mp4" });
    const pieces = [Buffer.alloc(6 * MB, 1), Buffer.alloc(4 * MB + 1000, 2)];
    const etags: string[] = [];
    for (const [i, type] of ["text/plain", "application/x-anything"].entries()) {
      const sent = await put(upload.parts[i]?.uploadUrl ?? "", pieces[i] ?? smallBody, type);
      assert.equal(sent.status, 200);
      etags.push(sent.headers.get("etag") ?? "");
    }
    const parts = etags.map((etag, i) => ({ partNumber: i + 1, etag }));
    const done = await client.completeParts(upload, parts);
    assert.deepEqual([done.status, done.body.file?.type], [200, "video/mp4"], JSON.stringify(done.body));
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
