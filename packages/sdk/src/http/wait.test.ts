import assert from "node:assert/strict";
import { it } from "node:test";
import { backoffMs, longestMs } from "./wait.ts";

it("doubles the pause with every attempt, up to 30 seconds, and halves it at most for jitter", (t) => {
  const random = t.mock.method(Math, "random", () => 1);
  const pauses = () => [0, 1, 2, 3, 4].map((attempt) => backoffMs(attempt, 500));
  assert.deepEqual(pauses(), [500, 1000, 2000, 4000, 8000]);
  assert.equal(backoffMs(20, 500), longestMs);
  assert.equal(longestMs, 30_000);
  random.mock.mockImplementation(() => 0);
  assert.deepEqual(pauses(), [250, 500, 1000, 2000, 4000]);
});
