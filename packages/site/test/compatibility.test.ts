import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Cell, fillSuite, listTests, type Results, readRows, suites } from "./support/compatibility.ts";
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

  it("keeps what is saved of a suite that this machine cannot run", () => {
    const [suite] = suites;
    assert.ok(suite);
    const fill = (cells: Record<string, Cell>) => fillSuite(page, suite, toResults(Object.entries(cells)));
    assert.match(fill({ "a new case": "failed" }), /\| a new case \| no \| – \|/);
    assert.equal(fill({ "a new case": "passed", "another case": "skipped" }), page);
    assert.equal(fill({}), page);
  });

  for (const [what, code] of [
    ["a test", `it("needs tuspy", { skip: "python3-tuspy is not installed" }, () => {});`],
    ["a group", `describe("pages", { skip: "no browser" }, () => it("opens", () => {}));`],
  ])
    it(`notices that ${what} was skipped`, () => {
      const folder = mkdtempSync(join(tmpdir(), "upstow-compatibility-"));
      const file = join(folder, "some.test.mjs");
      writeFileSync(file, `import { describe, it } from "node:test";\nit("runs", () => {});\n${code}\n`);
      try {
        const reporter = join(import.meta.dirname, "support/print-results.ts");
        const args = ["--disable-warning=ExperimentalWarning", "--test", `--test-reporter=${reporter}`, file];
        const { NODE_TEST_CONTEXT: _, ...env } = process.env;
        const { stdout } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
        const cells = stdout
          .trim()
          .split("\n")
          .map((line): [string, Cell] => {
            const { name, cell } = JSON.parse(line);
            return [name, cell];
          });
        assert.deepEqual(cells[0], ["runs", "passed"]);
        const [suite] = suites;
        assert.ok(suite);
        assert.equal(fillSuite(page, suite, toResults(cells)), page);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
});

const toResults = (cells: [string, Cell][]): Results =>
  new Map(cells.map(([name, disk]) => [name, { disk, bucket: "absent" }]));

const quote = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
