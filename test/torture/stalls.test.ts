import assert from "node:assert/strict";
import { test } from "node:test";
import { watchForStalls } from "../../torture/stalls.ts";

test("what overlaps a time in which nothing ran is told from what does not", () => {
  let nowMs = 1_000_000;
  const stalls = watchForStalls(() => nowMs);
  try {
    nowMs += 2_000;
    assert.equal(stalls.overlap(1_000_000), false, "a slow machine is no stall");
    const beforeMs = nowMs;
    nowMs += 60_000;
    assert.equal(stalls.overlap(beforeMs), true, "begun before it");
    const stalledUntilMs = nowMs;
    nowMs += 4_000;
    assert.equal(stalls.overlap(nowMs), true, "connections of that time");
    nowMs += 4_000;
    assert.equal(stalls.overlap(stalledUntilMs + 6_000), false, "begun long after it");
  } finally {
    stalls.stop();
  }
});
