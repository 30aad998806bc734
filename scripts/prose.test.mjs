import assert from "node:assert/strict";
import { test } from "node:test";
import { findProse } from "./prose.mjs";

test("a word to avoid is found in a page, and not in its code or links", () => {
  const page = "A file is refused.\n\n```sh\n# refused\n```\n\nRead `refused` in [errors](refused.md).\n";
  assert.deepEqual(
    findProse(page, "a.md").map((finding) => finding.split(" ")[0]),
    ["a.md:1:"],
  );
});

test("source is read for what it shows: strings and text between tags, not names and comments", () => {
  const source = [
    "// What was chosen beside it.",
    "const chosen = chooseFrom(refusals, 3 % 2);",
    'const label = "3 chosen files";',
    "const short = chosen + refusals;",
    '<p className="chosen dock">',
    "  Whoever has it",
    "</p>",
  ].join("\n");
  assert.deepEqual(
    findProse(source, "a.tsx").map((finding) => finding.split(" ")[0]),
    ["a.tsx:3:", "a.tsx:6:"],
  );
});

test("a service may refuse to start, and a connection be refused", () => {
  assert.deepEqual(findProse("It refuses to start. Connection refused.", "a.md"), []);
});

test("code between two strings is no text, and neither are the types of a script", () => {
  const source = [
    'if (picture === "refused" || findKind(picture) === null) return refuse("unsupported");',
    "const refusals: Record<Exclude<Problem, Known>, [message: string, refused: string]> = {};",
    'throw new Error("The upload was refused.");',
  ].join("\n");
  assert.deepEqual(
    findProse(source, "a.ts").map((finding) => finding.split(" ")[0]),
    ["a.ts:3:"],
  );
});

test("a default is named as one, and a file may be tested by hand on a store", () => {
  const page =
    "1 hour when left out. It does not answer. It is revoked already.\nTests run by hand on Ceph. Default: refuse.\n";
  assert.equal(findProse(page, "a.md").length, 3);
});
