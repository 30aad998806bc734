import assert from "node:assert/strict";
import { mkdir, rm, unlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { put, readAll } from "../../../test/support/storage/contract-client.ts";
import {
  databaseKinds,
  openTestStore,
  type TestStore,
} from "../../../test/support/storage/open-disk-store.ts";
import { createFileName, shardOf } from "./blob-name.ts";

const hour = 3_600_000;
const options = { graceMs: hour, maxDeletions: 100 };

async function plantOrphan(root: string, namedAt: number): Promise<string> {
  const blob = createFileName(namedAt);
  const directory = join(root, "blobs", shardOf(blob));
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, blob), "nobody needs this");
  return blob;
}

/** One object of each kind, none of which a sweep may touch. */
async function fill({ store }: TestStore): Promise<void> {
  await store.write("single", Buffer.from("single"), { contentType: "a/b" });
  const staged = await store.presignPut({
    key: "staged",
    contentType: "a/b",
    sizeBytes: 6,
    expiresInSec: 60,
  });
  await put(staged, "staged", { "content-type": "a/b" });
  for (const key of ["open", "assembled"]) {
    const uploadId = await store.startMultipart({ key, contentType: "a/b", sizeBytes: 4 });
    const urls = await store.presignParts({
      key,
      uploadId,
      sizeBytes: 4,
      partNumbers: [1, 2],
      expiresInSec: 60,
    });
    const parts = [];
    for (const [index, url] of urls.entries())
      parts.push({ partNumber: index + 1, etag: (await put(url, "ab")).etag });
    if (key === "assembled")
      assert.ok((await store.finishMultipart({ key, uploadId, sizeBytes: 4, parts })).ok);
  }
}

for (const kind of databaseKinds) {
  describe(`sweeping on ${kind}`, () => {
    test("removes old orphans and temporary files, and nothing that is needed", async () => {
      await using opened = await openTestStore(kind);
      await fill(opened);
      const needed = (await opened.listFiles()).sort();
      const now = Date.now();
      const old = [
        await plantOrphan(opened.root, now - 50 * hour),
        await plantOrphan(opened.root, now - 2 * hour),
      ];
      const young = await plantOrphan(opened.root, now);
      await writeFile(join(opened.root, "tmp", "leftover"), "half a body");

      const dry = await opened.store.sweep({ ...options, dryRun: true, now: now + hour / 2 });
      assert.deepEqual(dry.orphanBlobs.sort(), old.sort());
      assert.equal((await opened.listFiles()).length, needed.length + 4);

      const swept = await opened.store.sweep({ ...options, now: now + hour / 2 });
      assert.deepEqual({ ...swept, orphanBlobs: swept.orphanBlobs.sort() }, dry);
      assert.deepEqual(swept.tempFiles, []);
      assert.equal((await opened.listFiles()).length, needed.length + 2);

      const later = await opened.store.sweep({ ...options, now: now + 2 * hour });
      assert.deepEqual([later.tempFiles, later.orphanBlobs, later.missingBlobs], [["leftover"], [young], []]);
      assert.deepEqual((await opened.listFiles()).sort(), needed);
      assert.equal(String(await readAll(opened.store, "assembled")), "abab");
    });

    test("stops at its cap and says so", async () => {
      await using opened = await openTestStore(kind);
      const now = Date.now();
      for (let i = 0; i < 5; i++) await plantOrphan(opened.root, now - 2 * hour - i * hour);
      const first = await opened.store.sweep({ ...options, maxDeletions: 3, now });
      assert.deepEqual([first.orphanBlobs.length, first.capped], [3, true]);
      const second = await opened.store.sweep({ ...options, maxDeletions: 3, now });
      assert.deepEqual([second.orphanBlobs.length, second.capped], [2, false]);
    });

    test("reports blobs that are missing, alone or with their directory, and forgets no record", async () => {
      await using opened = await openTestStore(kind);
      await fill(opened);
      const now = Date.now() + 2 * hour;
      const [lost = "", ...others] = await opened.listFiles();
      await unlink(lost);
      const one = await opened.store.sweep({ ...options, now });
      assert.deepEqual(one.missingBlobs, [basename(lost)]);
      await rm(join(opened.root, "blobs"), { recursive: true });
      await mkdir(join(opened.root, "blobs"));
      for (let i = 0; i < 2; i++) {
        const all = await opened.store.sweep({ ...options, now });
        assert.equal(all.missingBlobs.length, others.length + 1);
      }
    });

    test("forgets tombstones only when no URL can be valid any more", async () => {
      await using opened = await openTestStore(kind);
      const { store } = opened;
      const url = await store.presignPut({ key: "gone", contentType: "a/b", sizeBytes: 4, expiresInSec: 60 });
      await put(url, "body", { "content-type": "a/b" });
      await store.delete(["gone", "never was"]);
      const week = 7 * 24 * hour;
      assert.deepEqual((await store.sweep({ ...options, now: Date.now() + week - 60_000 })).tombstones, []);
      const capped = await store.sweep({ ...options, maxDeletions: 1, now: Date.now() + week + 60_000 });
      assert.deepEqual([capped.tombstones.length, capped.capped], [1, true]);
      const rest = await store.sweep({ ...options, now: Date.now() + week + 60_000 });
      assert.deepEqual([...capped.tombstones, ...rest.tombstones].sort(), ["gone", "never was"]);
      assert.deepEqual((await store.sweep({ ...options, now: Date.now() + week + 60_000 })).tombstones, []);
    });
  });
}
