import assert from "node:assert/strict";
import { it } from "node:test";
import { callKey } from "./statement.ts";

it("gives calls with different values different keys", () => {
  const calls: unknown[][] = [
    ["a", "b"],
    ["ab", ""],
    ["", "ab"],
    ["a"],
    ["1:a"],
    ["a1:b"],
    [1],
    ["1"],
    ["1;"],
    [1, 2],
    [12],
    [null],
    ["null"],
    [["a", "b"]],
    [["a"], ["b"]],
    [],
  ];
  const keys = calls.map((values) => callKey({ sql: "", bind: () => values }, {}));
  assert.equal(new Set(keys).size, calls.length);
});
