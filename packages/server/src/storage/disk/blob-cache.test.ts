import assert from "node:assert/strict";
import { test } from "node:test";
import { createBlobCache } from "./blob-reader.ts";

test("what was used least recently makes room", () => {
  const cache = createBlobCache(10);
  cache.keep("a", Buffer.alloc(4));
  cache.keep("b", Buffer.alloc(4));
  assert.equal(cache.find("a")?.length, 4);
  cache.keep("c", Buffer.alloc(4));
  assert.equal(cache.find("b"), null);
  assert.equal(cache.find("a")?.length, 4);
  assert.equal(cache.find("c")?.length, 4);
});

test("what is too large for it is not kept, and keeping twice counts once", () => {
  const cache = createBlobCache(10);
  cache.keep("large", Buffer.alloc(11));
  assert.equal(cache.find("large"), null);
  for (let i = 0; i < 5; i++) cache.keep("a", Buffer.alloc(4));
  cache.keep("b", Buffer.alloc(6));
  assert.equal(cache.find("a")?.length, 4);
  assert.equal(cache.find("b")?.length, 6);
});
