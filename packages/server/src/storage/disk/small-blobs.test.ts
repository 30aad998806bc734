import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { put, readAll } from "../../../test/support/storage/contract-client.ts";
import {
  databaseKinds,
  openTestStore,
  type TestStore,
} from "../../../test/support/storage/open-disk-store.ts";
import { statement } from "../../db/statement.ts";
import { createKeyring } from "../../kernel/security/keyring.ts";
import { openDiskStore } from "./disk-store.ts";
import { insertSmallBlob, largestRowBytes, readSmallBlobs } from "./small-blobs.ts";

const contentType = "a/b";
const overwriteAll = statement((q, p: { bytes: Uint8Array }) =>
  q.updateTable("disk_small_blob").set({ bytes: p.bytes }),
);
const deleteAll = statement((q, _: object) => q.deleteFrom("disk_small_blob"));

async function countKept({ listFiles, listRows }: TestStore): Promise<{ files: number; rows: number }> {
  return { files: (await listFiles()).length, rows: (await listRows()).length };
}

async function send({ store }: TestStore, key: string, body: Buffer): Promise<number> {
  const url = await store.presignPut({ key, contentType, sizeBytes: body.length, expiresInSec: 60 });
  return (await put(url, body, { "content-type": contentType })).status;
}

for (const kind of databaseKinds) {
  describe(`small blobs on ${kind}`, () => {
    const open = () => openTestStore(kind, { largestRowBytes });

    test("bodies up to the limit are rows, larger ones and parts are files", async () => {
      await using opened = await open();
      for (const size of [1, largestRowBytes, largestRowBytes + 1])
        assert.equal(await send(opened, `size-${size}`, randomBytes(size)), 200);
      assert.deepEqual(await countKept(opened), { files: 1, rows: 2 });
      const upload = { key: "parts", contentType, sizeBytes: 3 };
      const uploadId = await opened.store.startMultipart(upload);
      const [url = ""] = await opened.store.presignParts({
        ...upload,
        uploadId,
        partNumbers: [1],
        expiresInSec: 60,
      });
      await put(url, "abc");
      assert.deepEqual(await countKept(opened), { files: 2, rows: 2 });
    });

    test("those that share a transaction keep their own bytes", async () => {
      await using opened = await open();
      const { db } = opened;
      const blobs = new Map([1, 0, 300, largestRowBytes].map((size) => [`of-${size}`, randomBytes(size)]));
      await db.transact((tx) =>
        Promise.all([...blobs].map(([blob, bytes]) => insertSmallBlob(tx, blob, bytes))),
      );
      assert.deepEqual(await readSmallBlobs(db, [...blobs.keys()]), blobs);
    });

    test("what is made final is what came last, also where another process took it", async () => {
      await using opened = await open();
      const { db, root, store } = opened;
      const [first, second] = [randomBytes(9), randomBytes(10)];
      assert.equal(await send(opened, "replaced", first), 200);
      const other = await openDiskStore({
        root,
        db,
        largestRowBytes,
        now: Date.now,
        keyring: createKeyring(["another secret for tests"]),
        publicUrl: () => "http://127.0.0.1",
        onDamage: () => assert.fail("damaged"),
      });
      await other.write("replaced", second, { contentType });
      const sha256 = hash("sha256", second);
      assert.deepEqual(await store.finishPut("replaced", 10), {
        sizeBytes: 10,
        sha256,
        etag: sha256.slice(0, 32),
      });
      assert.deepEqual(await readAll(store, "replaced"), second);
      assert.equal(await send(opened, "twice", first), 200);
      assert.equal(await send(opened, "twice", second), 200);
      assert.equal((await store.finishPut("twice", 10))?.sha256, sha256);
      assert.equal((await store.finishPut("twice", 10))?.sha256, sha256);
      await store.delete(["twice"]);
      assert.equal(await store.finishPut("twice", 10), null);
    });

    test("what replaces another, in a row or a file, leaves nothing of it", async () => {
      await using opened = await open();
      const small = randomBytes(100);
      const large = randomBytes(largestRowBytes + 1);
      for (const bytes of [small, large, small, randomBytes(7)]) {
        await opened.store.write("replaced", bytes, { contentType });
        assert.deepEqual(await readAll(opened.store, "replaced"), bytes);
        const isRow = bytes.length <= largestRowBytes;
        assert.deepEqual(await countKept(opened), { files: isRow ? 0 : 1, rows: isRow ? 1 : 0 });
      }
      await opened.store.delete(["replaced"]);
      assert.deepEqual(await countKept(opened), { files: 0, rows: 0 });
    });

    test("an object in a row has no path that a proxy could send", async () => {
      await using opened = await open();
      await opened.store.write("row", randomBytes(10), { contentType });
      assert.equal(await opened.store.localFiles.findPath("row"), null);
    });

    test("a sweep leaves rows alone and misses no file for them", async () => {
      await using opened = await open();
      const bytes = randomBytes(10);
      await opened.store.write("row", bytes, { contentType });
      const report = await opened.store.sweep({ graceMs: 0, maxDeletions: 10, now: Date.now() + 1000 });
      assert.deepEqual([report.orphanBlobs, report.missingBlobs], [[], []]);
      assert.deepEqual(await readAll(opened.store, "row"), bytes);
    });

    test("a damaged row is found when it is read and never served", async () => {
      await using opened = await open();
      await opened.store.write("row", Buffer.from("sound"), { contentType });
      await opened.db.run(overwriteAll, { bytes: Buffer.from("wrong") });
      assert.equal(await opened.store.read("row"), null);
      assert.deepEqual(
        opened.damages.map(({ key, reason }) => `${key} ${reason}`),
        ["row wrong-checksum"],
      );
      assert.equal(await opened.store.head("row"), null);
    });

    test("a scrub finds damaged and lost rows, and sees when they are mended", async () => {
      await using opened = await open();
      await opened.store.write("row", Buffer.from("sound"), { contentType });
      await opened.db.run(overwriteAll, { bytes: Buffer.from("wrong") });
      const damaged = await opened.store.scrub({ maxBlobs: 10 });
      assert.deepEqual(
        damaged.damaged.map(({ reason }) => reason),
        ["wrong-checksum"],
      );
      await opened.db.run(overwriteAll, { bytes: Buffer.from("sound") });
      assert.deepEqual((await opened.store.scrub({ maxBlobs: 10 })).mended, ["row"]);
      assert.equal(String(await readAll(opened.store, "row")), "sound");
      await opened.db.run(deleteAll, {});
      const lost = await opened.store.scrub({ maxBlobs: 10 });
      assert.deepEqual(
        lost.damaged.map(({ reason }) => reason),
        ["missing"],
      );
    });
  });
}
