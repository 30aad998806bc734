import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { scenarios } from "../../torture/scenarios.ts";

const program = fileURLToPath(new URL("../../torture/run.ts", import.meta.url));

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("npm run torture", () => {
  it("says what it can do", () => {
    const { status, stdout } = run("--help");
    assert.equal(status, 0);
    for (const name of Object.keys(scenarios)) assert.match(stdout, new RegExp(`^ {2}${name} `, "m"));
  });

  it("has a place for each result in docs/reliability.md", () => {
    const page = readFileSync(new URL("../../docs/reliability.md", import.meta.url), "utf8");
    for (const name of Object.keys(scenarios)) assert.ok(page.includes(`<!-- torture:${name} -->`), name);
  });

  for (const [mistake, words] of Object.entries({
    "there is nothing called fuzzz": ["race-quota", "fuzzz"],
    "Unknown option '--round'": ["race-quota", "--round", "3"],
  })) {
    it(`begins nothing and names the mistake: ${mistake}`, () => {
      const { status, stdout, stderr } = run(...words, "--no-save");
      assert.deepEqual([status, stdout], [2, ""]);
      assert.ok(stderr.includes(mistake), stderr);
      assert.match(stderr, /^npm run torture -- \[name/m);
    });
  }
});
