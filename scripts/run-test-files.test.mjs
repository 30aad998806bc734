import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "upstow-runner-"));
  await writeFile(
    join(folder, "run.mjs"),
    `import { runTestFiles } from ${JSON.stringify(new URL("run-test-files.mjs", import.meta.url).href)};
    const [, , strict, ...files] = process.argv;
    const { ok, lines } = await runTestFiles(files, { skipsFail: strict === "strict", print: console.log, concurrency: 1, durationsFile: "durations.json" });
    console.log(lines.join("\\n"));
    process.exit(ok ? 0 : 1);`,
  );
});
after(() => rm(folder, { recursive: true }));

async function runFile(name, body, options) {
  await writeFile(join(folder, name), `import { describe, test } from "node:test";\n${body}`);
  return runFiles([name], options);
}

/** On a busy machine a process takes a second or two before its tests begin. */
const shortDeadline = { UPSTOW_TEST_FILE_DEADLINE_MS: "4000" };

// In a process of its own: node refuses to start test files from inside a test file.
function runFiles(names, { skipsFail = false, deadline = {} } = {}) {
  const { NODE_TEST_CONTEXT: _inside, ...env } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    ["run.mjs", skipsFail ? "strict" : "relaxed", ...names],
    {
      cwd: folder,
      env: { ...env, ...deadline },
      encoding: "utf8",
    },
  );
  return { ok: status === 0, output: stdout };
}

/** With one process at a time, all files that may share one do. */
async function runShared(bodies, options) {
  const place = "packages/server/test";
  await rm(join(folder, place), { recursive: true, force: true });
  // Unknown durations are guessed from sizes, which decides the order.
  await rm(join(folder, "durations.json"), { force: true });
  await mkdir(join(folder, place), { recursive: true });
  const names = Object.keys(bodies).map((name) => `${place}/${name}.test.ts`);
  for (const [index, body] of Object.values(bodies).entries()) {
    await writeFile(join(folder, names[index]), `import { after, before, test } from "node:test";\n${body}`);
  }
  return runFiles(names, options);
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
    { deadline: shortDeadline },
  );
  assert.equal(ok, false);
  assert.match(output, /Still running after 4 s: .*open\.test\.ts\. Open: .*Timeout/);
});

test("skips of tests and of suites print their reason, and fail the run where they must not happen", async () => {
  const body =
    'test("one", { skip: "no such program" }, () => {}); describe.skip("all", () => test("x", () => {}));';
  const relaxed = await runFile("skip.test.ts", body);
  assert.equal(relaxed.ok, true);
  assert.match(relaxed.output, /skipped: one: no such program\n/);
  assert.match(relaxed.output, /\n0 passed, 0 failed, 2 skipped\n$/);
  const strict = await runFile("skip.test.ts", body, { skipsFail: true });
  assert.equal(strict.ok, false);
  assert.match(strict.output, /2 skipped: in CI every test must run/);
});

const noteProcess = 'test("fine", () => console.log("ran in", process.pid));';
const fail = 'test("wrong", () => { throw new Error("why"); });';

test("files share a process, and each is reported by itself", async () => {
  const { ok, output } = await runShared({
    // The larger one is taken for the longer one and runs first.
    one: `globalThis.seen = true; ${noteProcess} ${noteProcess} // ${"-".repeat(200)}`,
    two: `before(() => console.log("set up")); ${noteProcess}`,
    alone:
      '// Needs its own process: it says so.\ntest("alone", (t) => t.assert.equal(globalThis.seen, undefined));',
    bad: `${noteProcess}\n${fail}`,
  });
  assert.equal(ok, false);
  assert.match(output, /^✔ packages\/server\/test\/one\.test\.ts \(2 tests, /m);
  assert.match(output, /^✔ packages\/server\/test\/two\.test\.ts \(1 tests, /m);
  assert.match(output, /^✔ packages\/server\/test\/alone\.test\.ts \(1 tests, /m);
  assert.match(output, /✖ wrong \(packages\/server\/test\/bad\.test\.ts:3\)\n {4}Error: why\n/);
  assert.match(output, /^✖ packages\/server\/test\/bad\.test\.ts \(2 tests, /m);
  const processes = output.match(/ran in \d+/g);
  assert.equal(processes.length, 4);
  assert.equal(new Set(processes).size, 1);
  assert.match(output, /\n5 passed, 1 failed, 0 skipped\n$/);
});

test("a file that shares a process is over before the next one is loaded", async () => {
  const watch = `globalThis.open ??= 0;
    if (globalThis.open !== 0) throw new Error("loaded too early");
    globalThis.open++;
    after(() => globalThis.open--);
    test("runs alone", () => {});`;
  const { ok, output } = await runShared({ one: watch, two: watch });
  assert.equal(ok, true, output);
});

test("what files share is closed when the last of them is over", async () => {
  const support = new URL("../test/support/after-all-files.ts", import.meta.url).href;
  await writeFile(
    join(folder, "shared.mjs"),
    `import { afterAllFiles } from ${JSON.stringify(support)};
    export const shared = { isOpen: true };
    const hold = setInterval(() => {}, 1000);
    afterAllFiles(async () => { shared.isOpen = false; clearInterval(hold); });`,
  );
  const use = `import { shared } from "../../../shared.mjs";
    test("finds it open", (t) => t.assert.equal(shared.isOpen, true));`;
  const { ok, output } = await runShared({ one: use, two: use });
  assert.equal(ok, true, output);
});

test("a shared process reports a file that cannot be loaded, one without tests and a failed hook", async () => {
  const { ok, output } = await runShared({
    unloadable: 'import "./absent.ts";',
    empty: "",
    hook: `before(() => { throw new Error("no start"); }); ${noteProcess}`,
    good: noteProcess,
  });
  assert.equal(ok, false);
  assert.match(output, /✖ \S+unloadable\.test\.ts \(failed outside of its tests\)\n.*Cannot find module/);
  assert.match(output, /✖ \S+empty\.test\.ts \(no tests inside\)/);
  assert.match(output, /✖ \S+hook\.test\.ts \(failed outside of its tests\)\n.*no start/);
  assert.match(output, /✔ \S+good\.test\.ts \(1 tests, /);
});

test("files are not lost when one ends the process they share", async () => {
  const { ok, output } = await runShared({
    first: `${fail} // ${"-".repeat(200)}`,
    ends: 'test("ends", () => process.exit(0));',
  });
  assert.equal(ok, false);
  assert.match(output, /✖ \S+ends\.test\.ts/);
  assert.match(output, /\n✖ packages\/server\/test\/ends\.test\.ts\n/);
});

test("errors after the last test and what is left open fail the process that files share", async () => {
  const late = await runShared({
    late: 'test("early", () => { setTimeout(() => { throw new Error("late boom"); }, 20); });',
    fine: noteProcess,
  });
  assert.equal(late.ok, false);
  assert.match(late.output, /late boom/);
  assert.match(late.output, /\n✖ the process of .*late\.test\.ts.*\n/);
  const leak = { open: 'test("leaks", () => { setInterval(() => {}, 1000); });', fine: noteProcess };
  const open = await runShared(leak, { deadline: shortDeadline });
  assert.equal(open.ok, false);
  assert.match(open.output, /Still running after 4 s: one of .*open\.test\.ts.* Open: .*Timeout/);
});
