import assert from "node:assert/strict";
import { test } from "node:test";
import { planProcesses } from "./plan-test-processes.mjs";

const plan = (seconds, concurrency) =>
  planProcesses(Object.keys(seconds), {
    sharesProcess: (file) => !file.includes("alone"),
    durationOf: (file) => seconds[file] * 1000,
    concurrency,
  });

test("puts neighbours into one process as far as it does not take too long, and starts the longest first", () => {
  const seconds = { "a/1": 20, "a/2": 15, "a/3": 15, "a/alone": 35, "b/1": 20, "b/2": 90, "b/3": 1 };
  assert.deepEqual(plan(seconds, 1), [["b/2"], ["a/1", "a/2"], ["a/3", "b/1"], ["a/alone"], ["b/3"]]);
});

test("leaves no processor idle when there are few files, and keeps groups small when there are many", () => {
  assert.deepEqual(plan({ a: 2, b: 1 }, 4), [["a"], ["b"]]);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`file ${index}`, 0.01]));
  const groups = plan(many, 1);
  assert.deepEqual(groups.flat().sort(), Object.keys(many).sort());
  assert.ok(
    groups.every(({ length }) => length <= 16),
    JSON.stringify(groups),
  );
});
