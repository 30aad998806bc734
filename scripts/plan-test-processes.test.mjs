import assert from "node:assert/strict";
import { test } from "node:test";
import { planProcesses } from "./plan-test-processes.mjs";

const seconds = { long: 90, alone: 45, a: 30, b: 20, c: 10, d: 10 };
const plan = (files, concurrency) =>
  planProcesses(files, {
    sharesProcess: (file) => file !== "alone",
    durationOf: (file) => seconds[file] ?? 1,
    concurrency,
  });

test("spreads what shares a process so that all take about as long, and starts the longest first", () => {
  assert.deepEqual(plan(Object.keys(seconds), 3), [["long"], ["alone"], ["a", "d"], ["b", "c"]]);
});

test("leaves no processor idle when there are few files, and keeps groups small when there are many", () => {
  assert.deepEqual(plan(["a", "b"], 4), [["a"], ["b"]]);
  const many = Array.from({ length: 100 }, (_, index) => `file ${index}`);
  const groups = plan(many, 4);
  assert.deepEqual(groups.flat().sort(), many.toSorted());
  assert.ok(
    groups.every((group) => group.length <= 16),
    JSON.stringify(groups),
  );
});
