import assert from "node:assert/strict";
import { it } from "node:test";
import { shortenName } from "./file-name.ts";

it("shortens a name to 255 characters and keeps its extension", () => {
  const long = "é😀".repeat(150);
  for (const [name, expected] of [
    ["short.pdf", "short.pdf"],
    [`${"a".repeat(251)}.pdf`, `${"a".repeat(251)}.pdf`],
    [`${"a".repeat(252)}.pdf`, `${"a".repeat(251)}.pdf`],
    [`${long}.jpeg`, `${"é😀".repeat(125)}.jpeg`],
    [`${long}.文😀`, `${"é😀".repeat(126)}.文😀`],
    [long, `${"é😀".repeat(127)}é`],
    [`${long}. not one`, `${"é😀".repeat(127)}é`],
    [`${long}.${"x".repeat(21)}`, `${"é😀".repeat(127)}é`],
  ] as const) {
    assert.equal(shortenName(name), expected);
    assert.ok([...shortenName(name)].length <= 255);
  }
});
