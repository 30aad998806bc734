import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile, rename, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { put, readAll } from "../../../test/support/storage/contract-client.ts";
import {
  databaseKinds,
  openTestStore,
  type TestStore,
} from "../../../test/support/storage/open-disk-store.ts";
import { StorageUnavailable } from "../object-store.ts";

async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

async function filePath(opened: TestStore, key: string): Promise<string> {
  const path = await opened.store.localFiles.findPath(key);
  assert.ok(path);
  return join(opened.root, path);
}

async function assertNotServed({ store }: TestStore, key: string): Promise<void> {
  assert.equal(await store.read(key), null);
  assert.equal(await store.head(key), null);
  assert.equal(await store.localFiles.findPath(key), null);
}

for (const kind of databaseKinds) {
  describe(`damage on ${kind}`, () => {
    test("a flipped bit in any size is found by a scrub and never served again", async () => {
      await using opened = await openTestStore(kind);
      const { store } = opened;
      for (const size of [1, 10_000, 70_000, 3_000_000]) {
        await store.write(`sound-${size}`, randomBytes(size), { contentType: "a/b" });
        await store.write(`flipped-${size}`, randomBytes(size), { contentType: "a/b" });
        await flipBit(await filePath(opened, `flipped-${size}`));
      }
      const report = await store.scrub({ maxBlobs: 100 });
      assert.deepEqual([report.checkedBlobs, report.passEnded], [8, true]);
      assert.deepEqual(
        report.damaged.map(({ key, reason }) => `${key} ${reason}`).sort(),
        [1, 10_000, 3_000_000, 70_000].map((size) => `flipped-${size} wrong-checksum`),
      );
      assert.deepEqual(opened.damages, report.damaged);
      for (const size of [1, 10_000, 70_000, 3_000_000]) {
        await assertNotServed(opened, `flipped-${size}`);
        assert.equal((await readAll(store, `sound-${size}`))?.length, size);
      }
    });

    test("one damaged part keeps the whole object from being served, until it is mended", async () => {
      await using opened = await openTestStore(kind);
      const { store } = opened;
      const key = "assembled";
      const uploadId = await store.startMultipart({ key, contentType: "a/b", sizeBytes: 6 });
      const urls = await store.presignParts({
        key,
        uploadId,
        sizeBytes: 6,
        partNumbers: [1, 2],
        expiresInSec: 60,
      });
      const bodies = ["abc", "def"];
      const parts = [];
      for (const [index, url] of urls.entries()) {
        parts.push({ partNumber: index + 1, etag: (await put(url, bodies[index] ?? "")).etag });
      }
      // While the upload is open, a damaged part counts as not received and may be sent again.
      const [openPart = ""] = await opened.listFiles();
      await flipBit(openPart);
      assert.equal((await store.scrub({ maxBlobs: 10 })).damaged.length, 1);
      assert.equal((await store.listParts({ key, uploadId }))?.length, 1);
      const early = await store.finishMultipart({ key, uploadId, sizeBytes: 6, parts });
      assert.deepEqual([early.ok, early.ok || early.problem], [false, "missing-part"]);
      for (const [index, url] of urls.entries()) await put(url, bodies[index] ?? "");
      assert.ok((await store.finishMultipart({ key, uploadId, sizeBytes: 6, parts })).ok);
      assert.equal(String(await readAll(store, key)), "abcdef");

      const [part = ""] = await opened.listFiles();
      const sound = await readFile(part);
      await flipBit(part);
      assert.deepEqual(
        (await store.scrub({ maxBlobs: 10 })).damaged.map((damage) => damage.key),
        [key],
      );
      await assertNotServed(opened, key);
      await writeFile(part, sound);
      assert.deepEqual((await store.scrub({ maxBlobs: 10 })).mended, [key]);
      assert.equal(String(await readAll(store, key)), "abcdef");
    });

    test("a staged body that was damaged counts as not received", async () => {
      await using opened = await openTestStore(kind);
      const { store } = opened;
      const url = await store.presignPut({
        key: "staged",
        contentType: "a/b",
        sizeBytes: 4,
        expiresInSec: 60,
      });
      await put(url, "body", { "content-type": "a/b" });
      const [path = ""] = await opened.listFiles();
      await flipBit(path);
      await store.scrub({ maxBlobs: 10 });
      assert.equal(await store.findReceived("staged"), null);
      assert.equal(await store.finishPut("staged", 4), null);
      assert.equal((await put(url, "body", { "content-type": "a/b" })).status, 200);
      assert.equal((await store.finishPut("staged", 4))?.sizeBytes, 4);
    });

    test("it remembers its place: the blob checked longest ago is next", async () => {
      await using opened = await openTestStore(kind);
      for (let i = 0; i < 5; i++)
        await opened.store.write(`k${i}`, Buffer.from(`${i}`), { contentType: "a/b" });
      const counts = [];
      for (let i = 0; i < 5; i++) {
        const { checkedBlobs, passEnded } = await opened.store.scrub({ maxBlobs: 2 });
        counts.push([checkedBlobs, passEnded]);
      }
      assert.deepEqual(counts, [
        [2, false],
        [2, false],
        [1, true],
        [2, false],
        [2, false],
      ]);
    });
  });
}

describe("damage that reading finds", () => {
  const damages: [string, (path: string) => Promise<void>, string, number][] = [
    ["a missing file", (path) => unlink(path), "missing", 200_000],
    ["a file cut short", (path) => truncate(path, 100), "wrong-size", 200_000],
    ["a flipped bit in a small file", flipBit, "wrong-checksum", 2_000],
  ];
  for (const [name, damage, reason, sizeBytes] of damages) {
    test(`${name} is not served, is reported once and stays marked`, async () => {
      await using opened = await openTestStore();
      await opened.store.write("k", randomBytes(sizeBytes), { contentType: "a/b" });
      await damage(await filePath(opened, "k"));
      for (let i = 0; i < 2; i++) assert.equal(await opened.store.read("k"), null);
      await assertNotServed(opened, "k");
      assert.deepEqual(
        opened.damages.map((found) => [found.key, found.reason]),
        [["k", reason]],
      );
    });
  }

  test("a part that is lost behind the first one breaks the stream, so that it is not taken for whole", async () => {
    await using opened = await openTestStore();
    const { store } = opened;
    const sizeBytes = 200_000;
    const uploadId = await store.startMultipart({ key: "k", contentType: "a/b", sizeBytes });
    const urls = await store.presignParts({
      key: "k",
      uploadId,
      sizeBytes,
      partNumbers: [1, 2],
      expiresInSec: 60,
    });
    const parts = [];
    for (const [index, url] of urls.entries()) {
      parts.push({ partNumber: index + 1, etag: (await put(url, randomBytes(sizeBytes / 2))).etag });
    }
    assert.ok((await store.finishMultipart({ key: "k", uploadId, sizeBytes, parts })).ok);
    const [, second = ""] = (await opened.listFiles()).sort();
    await unlink(second);
    await assert.rejects(readAll(store, "k"), { name: "BlobDamaged" });
    await assertNotServed(opened, "k");
  });

  test("a disk that is not there is trouble, not damage", async () => {
    await using opened = await openTestStore();
    await opened.store.write("k", randomBytes(200_000), { contentType: "a/b" });
    await rename(opened.root, `${opened.root}-away`);
    await assert.rejects(opened.store.read("k"), StorageUnavailable);
    await assert.rejects(opened.store.scrub({ maxBlobs: 1 }), StorageUnavailable);
    await assert.rejects(opened.store.check(), StorageUnavailable);
    await rename(`${opened.root}-away`, opened.root);
    assert.equal((await readAll(opened.store, "k"))?.length, 200_000);
    assert.deepEqual(opened.damages, []);
  });
});
