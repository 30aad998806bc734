// The tables beside this file have a row for every statement of the contract, with the tests that prove it. Numbers
// follow the sections of the contract; those with a D are decisions where it left a choice. A proof is the name of a
// test file, whose path stands at the end of the table, and the exact name of the test or suite.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

interface Row {
  section: string;
  number: string;
  proofs: { path: string; name: string }[];
}

const here = import.meta.dirname;
const tables = globSync("*.md", { cwd: here })
  .sort()
  .map((file) => readFileSync(join(here, file), "utf8"));
const rows = tables.flatMap(readRows);

function readRows(table: string): Row[] {
  const paths = new Map([...table.matchAll(/^\[([\w-]+)\]: (\S+)$/gm)].map(([, name, path]) => [name, path]));
  let section = "";
  return table
    .replaceAll(/<!--.*?-->/gs, "")
    .split("\n")
    .flatMap((line) => {
      section = /^## (\S+)/.exec(line)?.[1] ?? section;
      const [, number, , proofs] = /^\| (D?\d\S*) \| (.+?) \| (.*) \|$/.exec(line) ?? [];
      if (number === undefined || proofs === undefined) return [];
      const found = proofs.split("<br>").flatMap((proof) => {
        const [, file, name] = /^\[([\w-]+)\] (.+)$/.exec(proof) ?? [];
        return name === undefined ? [] : [{ path: paths.get(file) ?? `${file} has no path`, name }];
      });
      return [{ section, number, proofs: found }];
    });
}

/** At the start of its line, so that one in a comment is none. Names in loops count as they are written: `${this}`. */
const testCall =
  /^[ \t]*(?:await )?(?:it|test|describe|onBothDatabases|onAnyDatabase|itOnDisk|onlyOnDisk\("[^"\n]*"\))\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1(.*)/gm;
/** Skips where a program is missing on the machine are reported by the runner, and fail where none may be missing. */
const leavesOut = /\b(?:it|test|describe)\.(?:skip|todo)\(|\b(?:skip|todo): (?!\w+Missing\b)/;

function countTests(path: string): Map<string, number> {
  const source = readFileSync(join(here, path), "utf8");
  assert.doesNotMatch(source, leavesOut, `${path} leaves tests out`);
  const counts = new Map<string, number>();
  for (const [, , name = ""] of source.matchAll(testCall)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Of the contract, then of the decisions. Sections without a statement of their own are left out. */
const sections = [
  ..."1 2.1 2.2 2.3 2.4 3 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9".split(" "),
  ...Array.from({ length: 23 }, (_, i) => `D${i + 1}`),
];

describe("the statements of the contract", () => {
  it("are of every section", () => {
    // D20 stands in two tables.
    const found = new Set(rows.map(({ section }) => (section === "D20b" ? "D20" : section)));
    assert.deepEqual([...found].sort(), sections.toSorted());
  });

  it("are all there, numbered without a gap", () => {
    const last = new Map<string, number>();
    for (const { section, number } of rows) {
      const expected = (last.get(section) ?? 0) + 1;
      assert.equal(number, `${section}-${expected}`);
      last.set(section, expected);
    }
    assert.equal(new Set(rows.map(({ number }) => number)).size, rows.length);
    // To be changed with the tables: a row does not go unnoticed.
    assert.equal(rows.length, 795);
  });

  it("each have a test", () => {
    const bare = rows.filter(({ proofs }) => proofs.length === 0);
    assert.deepEqual(
      bare.map(({ number }) => number),
      [],
    );
  });

  it("name tests that exist, once in their file, and are not left out", () => {
    const tests = new Map<string, Map<string, number>>();
    const wrong: string[] = [];
    for (const { number, proofs } of rows) {
      for (const { path, name } of proofs) {
        const counts = tests.get(path) ?? countTests(path);
        tests.set(path, counts);
        if (counts.get(name) !== 1) wrong.push(`${number}: ${counts.get(name) ?? 0} of "${name}" in ${path}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
});
