import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { FILE_NAME_MAX } from "@upstow/contract";
import sharp from "sharp";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

const picture = await sharp({ create: { width: 20, height: 10, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();

onBothDatabases("renaming a file", (database) => {
  let app: TestApp;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    client = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(() => app.close());

  const dispositionOf = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    return response.headers.get("content-disposition");
  };
  const lastLog = async () => (await app.call("GET", "logs?limit=1", { key: client.key })).body.logs[0];

  it("changes the name shown and the download name, never key or URL", async () => {
    const file = await client.upload(smallBody, { fileName: "old.bin", metadata: { a: 1 } });
    // Twice, so that every cache of the row and of the answer is warm.
    for (let i = 0; i < 2; i++) assert.match((await dispositionOf(file.url)) ?? "", /filename="old\.bin"/);
    const before = (await client.get(file.key)).body.file;
    app.clock.advance(5000);
    const { status, body } = await client.patch(file.key, { name: "Räkning 2026.pdf" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.file, { ...before, name: "Räkning 2026.pdf", updatedAt: body.file.updatedAt });
    assert.ok(Date.parse(body.file.updatedAt) >= Date.parse(before.updatedAt) + 5000);
    assert.deepEqual((await client.get(file.key)).body, body);
    assert.equal((await client.list("?limit=1")).body.files[0].name, "Räkning 2026.pdf");
    for (const headers of [{}, { range: "bytes=0-1" }])
      assert.match(
        (await dispositionOf(file.url, headers)) ?? "",
        /filename\*=UTF-8''R%C3%A4kning%202026\.pdf/,
      );
    const log = await lastLog();
    assert.deepEqual([log.type, log.fileId, log.key], ["file.updated", file.id, file.key]);
    assert.equal(log.message, 'Renamed to "Räkning 2026.pdf".');
  });

  it("follows in variants", async () => {
    const file = await client.upload(picture, { fileName: "old.png", contentType: "image/png" });
    const { url } = (
      await client.post("transforms/image", { key: file.key, width: 5, format: "webp", delivery: "public" })
    ).body;
    for (let i = 0; i < 2; i++) assert.match((await dispositionOf(url)) ?? "", /filename="old\.webp"/);
    await client.patch(file.key, { name: "new.png" });
    assert.match((await dispositionOf(url)) ?? "", /filename="new\.webp"/);
  });

  it("goes together with metadata, each alone leaves the other, and one of them is needed", async () => {
    const { key } = await client.upload(smallBody, { fileName: "a", metadata: { a: 1 } });
    const facts = async () => {
      const { name, metadata } = (await client.get(key)).body.file;
      return [name, metadata];
    };
    await client.patch(key, { name: "b" });
    assert.deepEqual(await facts(), ["b", { a: 1 }]);
    await client.patch(key, { metadata: { b: 2 } });
    assert.deepEqual(await facts(), ["b", { b: 2 }]);
    assert.equal((await lastLog()).message, 'Metadata of "b" was replaced.');
    await client.patch(key, { name: "c", metadata: {} });
    assert.deepEqual(await facts(), ["c", {}]);
    assert.equal((await lastLog()).message, 'Renamed to "c". Metadata of "c" was replaced.');
    for (const body of [{}, { status: "FAILED" }, undefined])
      expectInvalid(await client.patch(key, body), "metadata");
    const bad = await client.patch(key, { name: "d", metadata: { x: "a".repeat(17_000) } });
    expectInvalid(bad, "metadata");
    assert.deepEqual(await facts(), ["c", {}], "all or nothing");
  });

  it("takes the names that an upload takes", async () => {
    const { key, url } = await client.upload(smallBody, { fileName: "a" });
    for (const name of ["", "x".repeat(FILE_NAME_MAX + 1), null, 5, ["a"], {}])
      expectInvalid(await client.patch(key, { name }), "name");
    expectError(await client.patch(key, { name: "a\u0000b" }), 400, "VALIDATION_ERROR");
    for (const name of [
      "🎉".repeat(FILE_NAME_MAX),
      "a/../b",
      'x"\r\nSet-Cookie: a=b',
      "__proto__",
      "\u202egpj.exe",
    ]) {
      const { status, body } = await client.patch(key, { name });
      assert.deepEqual([status, body.file?.name, body.file?.key], [200, name, key]);
      const response = await fetch(url);
      assert.equal(await response.text(), smallBody.toString());
      assert.equal(response.headers.get("set-cookie"), null);
      assert.equal((await client.upload(smallBody, { fileName: name })).name, name);
    }
  });

  it("works on an open upload, and not on what is gone", async () => {
    const open = await client.request({ fileName: "a" });
    assert.equal((await client.patch(open.key, { name: "b" })).body.file.status, "UPLOADING");
    await client.remove(open.key);
    expectError(await client.patch(open.key, { name: "c" }), 404, "NOT_FOUND");
  });
});
