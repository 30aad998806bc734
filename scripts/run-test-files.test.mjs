import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "upstow-runner-"));
  await writeFile(
    join(folder, "run.mjs"),
    `import { runTestFiles } from ${JSON.stringify(new URL("run-test-files.mjs", import.meta.url).href)};
    const [, , file, strict] = process.argv;
    const { ok, lines } = await runTestFiles([file], { skipsFail: strict === "strict", print: console.log });
    console.log(lines.join("\\n"));
    process.exit(ok ? 0 : 1);`,
  );
});
after(() => rm(folder, { recursive: true }));

// In a process of its own: node refuses to start test files from inside a test file.
async function runFile(name, body, skipsFail = false) {
  await writeFile(join(folder, name), `import { describe, test } from "node:test";\n${body}`);
  const { NODE_TEST_CONTEXT: _inside, ...env } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    ["run.mjs", name, ...(skipsFail ? ["strict"] : [])],
    {
      cwd: folder,
      env: { ...env, UPSTOW_TEST_FILE_DEADLINE_MS: "1500" },
      encoding: "utf8",
    },
  );
  return { ok: status === 0, output: stdout };
}

test("passing tests take one line and their own output is left out", async () => {
  const { ok, output } = await runFile("good.test.ts", 'test("fine", () => console.log("chatter"));');
  assert.equal(ok, true);
  assert.match(output, /^✔ good\.test\.ts \(1 tests, /);
  assert.match(output, /ℹ tests 1\n[\s\S]*ℹ pass 1\nℹ fail 0\n[\s\S]*\n1 passed, 0 failed, 0 skipped\n$/);
  assert.doesNotMatch(output, /chatter/);
});

test("a failure is shown in full, with what the file wrote", async () => {
  const body =
    'describe("outer", () => test("wrong", () => { console.log("clue"); throw new Error("why"); }));';
  const { ok, output } = await runFile("bad.test.ts", body);
  assert.equal(ok, false);
  assert.match(output, /✖ wrong \(bad\.test\.ts:2\)\n {4}Error: why\n {8}at /);
  assert.match(output, /✖ bad\.test\.ts \(1 tests, .*\n {4}clue\n/);
  assert.match(output, /\n✖ wrong \(bad\.test\.ts:2\)\n[\s\S]*\n0 passed, 1 failed, 0 skipped\n$/);
});

test("a file that cannot be loaded fails with its error", async () => {
  const { ok, output } = await runFile("unloadable.test.ts", 'import "./absent.ts";');
  assert.equal(ok, false);
  assert.match(output, /✖ unloadable\.test\.ts \(ended with exit code 1\)[\s\S]*Cannot find module/);
});

test("a file without a test fails", async () => {
  const { ok, output } = await runFile("empty.test.ts", "");
  assert.equal(ok, false);
  assert.match(output, /✖ empty\.test\.ts \(no tests inside\)/);
});

test("an error after the last test is not lost", async () => {
  const { ok, output } = await runFile(
    "late.test.ts",
    'test("early", () => { setTimeout(() => { throw new Error("late boom"); }, 20); });',
  );
  assert.equal(ok, false);
  assert.match(output, /late boom/);
});

test("a file that does not end fails and names what it holds open", async () => {
  const { ok, output } = await runFile(
    "open.test.ts",
    'test("leaks", () => { setInterval(() => {}, 1000); });',
  );
  assert.equal(ok, false);
  assert.match(output, /Still running after 1\.5 s\. Open: .*Timeout/);
});

test("skips of tests and of suites print their reason, and fail the run where they must not happen", async () => {
  const body =
    'test("one", { skip: "no such program" }, () => {}); describe.skip("all", () => test("x", () => {}));';
  const relaxed = await runFile("skip.test.ts", body);
  assert.equal(relaxed.ok, true);
  assert.match(relaxed.output, /skipped: one: no such program\n/);
  assert.match(relaxed.output, /\n0 passed, 0 failed, 2 skipped\n$/);
  const strict = await runFile("skip.test.ts", body, true);
  assert.equal(strict.ok, false);
  assert.match(strict.output, /2 skipped: in CI every test must run/);
});
