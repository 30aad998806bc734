import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createId, firstIdAt, isId, timeOfId } from "./ids.ts";

const now = Date.UTC(2026, 10, 15);

describe("ids", () => {
  it("sort in the order they were made, within a millisecond too", () => {
    const ids = [0, 0, 1, 1, 2].flatMap((ms) => Array.from({ length: 500 }, () => createId(now + ms)));
    assert.deepEqual([...ids].sort(), ids);
  });

  it("are all different, however many are made in a millisecond", () => {
    const ids = Array.from({ length: 100_000 }, () => createId(now));
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every(isId));
  });

  it("lie between the bounds of their moment", () => {
    const id = createId(now);
    assert.ok(firstIdAt(now) <= id);
    assert.ok(id < firstIdAt(now + 1));
    assert.equal(timeOfId(id), now);
  });
});
