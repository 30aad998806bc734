import assert from "node:assert/strict";
import { test } from "node:test";
import { planProcesses } from "./plan-test-processes.mjs";

const plan = (seconds, concurrency) =>
  planProcesses(Object.keys(seconds), {
    sharesProcess: (file) => !file.includes("alone"),
    durationOf: (file) => seconds[file] * 1000,
    concurrency,
  });
const listFiles = (count, seconds) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`file ${1000 + index}`, seconds]));

test("puts neighbours into one process as far as it does not take too long, and starts the longest first", () => {
  const seconds = { "a/1": 140, "a/2": 100, "a/3": 100, "a/alone": 200, "b/1": 140, "b/2": 600, "b/3": 2 };
  assert.deepEqual(plan(seconds, 1), [["b/2"], ["a/1", "a/2"], ["a/3", "b/1"], ["a/alone"], ["b/3"]]);
});

test("leaves no processor idle when there are few files, and keeps groups small when there are many", () => {
  assert.deepEqual(plan({ a: 2, b: 1 }, 4), [["a"], ["b"]]);
  const many = listFiles(100, 0.01);
  const groups = plan(many, 1);
  assert.deepEqual(groups.flat().sort(), Object.keys(many).sort());
  assert.ok(
    groups.every(({ length }) => length <= 60),
    JSON.stringify(groups),
  );
});

test("ends with processes that do not take long", () => {
  const lengths = plan(listFiles(300, 10), 6).map(({ length }) => length);
  assert.equal(lengths[0], 30);
  assert.ok(
    lengths.slice(-6).every((length) => length <= 6),
    `${lengths}`,
  );
  assert.ok(lengths.length < 30, `${lengths}`);
});
