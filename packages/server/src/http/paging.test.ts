import assert from "node:assert/strict";
import { it } from "node:test";
import { createId } from "../kernel/ids.ts";
import { encodeCursor, startPage } from "./paging.ts";

it("takes a cursor as it was given, and none with a single character changed, lost or swapped", () => {
  const id = createId(Date.UTC(2026, 10, 16));
  const cursor = encodeCursor(id);
  assert.equal(startPage({ cursor }).before, id);
  const damaged = new Set<string>();
  for (const [i, own] of [...cursor].entries()) {
    const [before, after] = [cursor.slice(0, i), cursor.slice(i + 1)];
    for (const other of "ABCXYZabcxyz0189-_") damaged.add(before + other + after);
    damaged.add(before + after);
    damaged.add(before + after.slice(0, 1) + own + after.slice(1));
  }
  damaged.delete(cursor);
  for (const text of damaged)
    assert.throws(() => startPage({ cursor: text }), { code: "VALIDATION_ERROR", message: /^cursor/ }, text);
});
