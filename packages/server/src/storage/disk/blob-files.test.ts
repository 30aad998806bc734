import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { relative } from "node:path";
import { test } from "node:test";
import { put } from "../../../test/support/storage/contract-client.ts";
import { openTestStore } from "../../../test/support/storage/open-disk-store.ts";
import { blobNamedAt, createFileName, isFileName, shardEndsAt, shardOf } from "./blob-name.ts";

const corpus = [
  "../../etc/passwd",
  "..\\..\\x",
  "%2e%2e/%252e",
  "/absolute",
  "C:\\x",
  "nul\u0000byte",
  "．．／x",
  "😀".repeat(200),
  ".",
  "",
];

test("no path is built from what a client sends", async () => {
  await using opened = await openTestStore();
  const { store, root, listFiles } = opened;
  for (const key of corpus) {
    const url = await store.presignPut({ key, contentType: "a/b", sizeBytes: 1, expiresInSec: 60 });
    await put(url, "x", { "content-type": "a/b" });
  }
  const files = await listFiles();
  assert.ok(files.length >= corpus.length - 1);
  for (const file of files) assert.match(relative(root, file), /^blobs\/[0-9a-z]{6}\/[0-9a-z]{26}$/);
  for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("blobs of the same quarter of an hour share a directory, and names sort by time", () => {
  const time = Date.UTC(2026, 0, 1);
  const blob = createFileName(time);
  assert.ok(isFileName(blob));
  assert.equal(blobNamedAt(blob), time);
  assert.ok(shardEndsAt(shardOf(blob)) >= time);
  assert.equal(shardOf(createFileName(shardEndsAt(shardOf(blob)))), shardOf(blob));
  assert.ok(shardOf(createFileName(shardEndsAt(shardOf(blob)) + 1)) > shardOf(blob));
  assert.ok(createFileName(time + 1) > blob);
});
