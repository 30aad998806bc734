import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { openTestStore } from "../../../test/support/storage/open-disk-store.ts";
import { smallBytes } from "./blob-reader.ts";

test("a reader who hangs up while the file is being opened leaves it closed", async () => {
  await using opened = await openTestStore();
  const { store } = opened;
  await store.write("large", Buffer.alloc(smallBytes + 1), { contentType: "text/plain" });
  const reader = new AbortController();
  // The last look at the signal before the file is opened.
  reader.signal.throwIfAborted = () => queueMicrotask(() => reader.abort());
  const stream = await store.read("large", { signal: reader.signal });
  assert.ok(stream instanceof Readable);
  assert.equal(reader.signal.aborted, true);
  assert.equal(stream.destroyed, true);
});
