import assert from "node:assert/strict";
import { it } from "node:test";
import { clean, printableJson, withoutMarks } from "./format.ts";

const hostile = "invoice\u202Egpj.exe\u{E0001}";

it("never prints characters that reorder or hide a name, and keeps them in JSON's value", () => {
  for (const shown of [clean(hostile), withoutMarks(`a  ${hostile}`), printableJson({ name: hostile })])
    assert.doesNotMatch(shown, /\p{Cf}/u);
  assert.deepEqual(JSON.parse(printableJson({ name: hostile })), { name: hostile });
  assert.equal(withoutMarks("two  columns\nand lines"), "two  columns\nand lines");
});
