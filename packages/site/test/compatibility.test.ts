import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listTests, readRows, suites } from "./support/compatibility.ts";
import { readDoc } from "./support/doc-files.ts";

const command = "npx node packages/site/test/write-compatibility.ts";
const page = readDoc("docs/compatibility.md");

describe("the compatibility page", () => {
  for (const suite of suites)
    it(`has every case of "${suite.title}", and no other`, () => {
      const tests = listTests(suite);
      assert.ok(tests.length > 0, suite.file);
      const rows = readRows(page, suite);
      assert.ok(rows.length > 0, `${suite.title}: ${command}`);
      const patterns = tests.map(
        (name) =>
          new RegExp(
            `^${name
              .split(/\$\{\w+\}/)
              .map(quote)
              .join(".+")}$`,
          ),
      );
      const prefix = suite.versions === undefined ? "" : `version ${suite.versions[0]}: `;
      for (const row of rows)
        assert.ok(
          patterns.some((pattern) => pattern.test(prefix + row)),
          `"${row}" is no test: ${command}`,
        );
      for (const [i, pattern] of patterns.entries())
        assert.ok(
          rows.some((row) => pattern.test(prefix + row)),
          `"${tests[i]}" is missing: ${command}`,
        );
    });

  it("has 51 cases of the public suite", () => {
    const draft = suites.find(({ versions }) => versions !== undefined);
    assert.equal(draft === undefined ? 0 : readRows(page, draft).length, 51);
  });
});

const quote = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
