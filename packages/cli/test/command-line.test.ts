import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { main, runFailing, runJson, runUpstow, spawnUpstow } from "./support/run-upstow.ts";

describe("the command line", () => {
  let dataDir: string;
  let env: Record<string, string>;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "upstow-cli-"));
    env = { UPSTOW_DATA_DIR: join(dataDir, "data") };
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  const wrong: [string[], RegExp][] = [
    [[], /upstow --help/],
    [["acount", "create"], /no command "acount create"\. Did you mean account create\?/],
    [["account"], /account create, account set-tier, account set-limits/],
    [["zebra"], /no command "zebra"\. `upstow --help`/],
    [["account", "create"], /--email is missing/],
    [["account", "create", "--emial", "a@b.c"], /no option --emial\. Did you mean --email\?/],
    [["account", "create", "--email"], /--email needs a value/],
    [["account", "create", "--email", "--tier", "pro"], /--email needs a value before --tier/],
    [
      ["account", "create", "--email", "a@b.c", "--tier", "por"],
      /one of free, pro, team, enterprise.*mean pro\?/,
    ],
    [["account", "create", "--email", "a@b.c", "more"], /"more" is an unexpected argument/],
    [["account", "set-tier", "a@b.c"], /<tier> is missing/],
    [["account", "set-limits", "a@b.c"], /at least one of --rate-upload/],
    [["account", "set-limits", "a@b.c", "--rate-upload", "0"], /whole number from 1/],
    [["account", "set-limits", "a@b.c", "--rate-upload", "1.5"], /whole number from 1/],
    [["account", "set-limits", "a@b.c", "--rate-upload", "-3"], /whole number from 1/],
    [["key", "create", "--project", "x", "--type", "life"], /live, test.*Did you mean live\?/],
    [["doctor", "--json=yes"], /--json does not accept a value/],
    [["upload", "-dash.txt"], /no option -d\. .* begins with a dash, .* `-- -dash\.txt`/],
  ];
  for (const [args, message] of wrong) {
    it(`refuses "upstow ${args.join(" ")}" as wrong usage, in one line`, async () => {
      const run = await runUpstow(args, env);
      assert.equal(run.code, 2);
      assert.equal(run.stdout, "");
      assert.match(run.stderr, /^upstow: [^\n]+\n$/);
      assert.match(run.stderr, message);
    });
  }

  it("reads standard input and ends with its exit code, as a process", async () => {
    const shell = { UPSTOW_DATA_DIR: join(dataDir, "of-process") };
    const create = ["account", "create", "--email", "a@example.com", "--password", "-", "--json"];
    const made = await spawnUpstow(create, shell, "from a pipe\n").ended;
    assert.deepEqual([made.code, JSON.parse(made.stdout).email], [0, "a@example.com"], made.stderr);
    const again = await spawnUpstow(create, shell, "from a pipe\n").ended;
    assert.deepEqual([again.code, again.stdout], [1, ""]);
    assert.equal(JSON.parse(again.stderr).error.code, "VALIDATION_ERROR");
    assert.equal((await spawnUpstow(["account"], shell).ended).code, 2);
    await rm(shell.UPSTOW_DATA_DIR, { recursive: true });
  });

  it("ends without a word when its reader has had enough", async () => {
    const script = '{ "$0" --disable-warning=ExperimentalWarning "$1" --help; echo "$?" >&2; } | :';
    const { stderr } = await promisify(execFile)("sh", ["-c", script, process.execPath, main], { env });
    assert.equal(stderr, "141\n", "as programs end that a broken pipe has ended");
  });

  it("answers wrong usage in JSON on stderr when asked for JSON", async () => {
    const { exitCode, code, message } = await runFailing(["key", "revok", "x"], env);
    assert.equal(exitCode, 2);
    assert.equal(code, "USAGE");
    assert.match(message, /Did you mean key revoke\?/);
    for (const words of [
      ["--json", "key", "revoke"],
      ["key", "--json", "revoke"],
    ])
      assert.match(JSON.parse((await runUpstow(words, env)).stderr).error.message, /<id> is missing/);
  });

  it("lists the commands of a group in its help", async () => {
    for (const args of [
      ["files", "--help"],
      ["help", "files"],
      ["--json", "files", "--help"],
    ]) {
      const { stdout, code } = await runUpstow(args, env);
      assert.equal(code, 0);
      assert.match(stdout, /^ {2}files ls /m);
      assert.doesNotMatch(stdout, /^ {2}keys /m);
    }
  });

  it("lists every command in its help, and each has help of its own", async () => {
    const { stdout, code } = await runUpstow(["--help"], env);
    assert.equal(code, 0);
    for (const name of ["account create", "account set-tier", "account set-limits", "project create"]) {
      assert.match(stdout, new RegExp(`^  ${name} `, "m"));
    }
    for (const name of ["project purge", "key create", "key revoke", "doctor", "backup", "serve"]) {
      assert.match(stdout, new RegExp(`^  ${name} `, "m"));
    }
    for (const args of [
      ["key", "create", "--help"],
      ["key", "create", "-h"],
      ["help", "key", "create"],
    ]) {
      const help = await runUpstow(args, env);
      assert.equal(help.code, 0);
      assert.match(help.stdout, /Usage: upstow key create --project ID --type live\|test \[--name N\]/);
    }
  });

  it("names the variable of a wrong configuration", async () => {
    const failure = await runFailing(["key", "revoke", "x"], { ...env, UPSTOW_PORT: "many" });
    assert.deepEqual([failure.exitCode, failure.code], [1, "CONFIGURATION"]);
    assert.match(failure.message, /^UPSTOW_PORT must be a whole number/);
  });

  it("makes no installation by accident, and says where it looked", async () => {
    const failure = await runFailing(["account", "set-tier", "a@b.c", "pro"], env);
    assert.deepEqual([failure.exitCode, failure.code], [1, "NOT_FOUND"]);
    assert.ok(failure.message.includes(join(dataDir, "data")));
    assert.deepEqual(await readdir(dataDir), []);
  });

  it("makes an account before the first start, and leaves the owner to it", async () => {
    const taken = await runFailing(["account", "create", "--email", "Owner@localhost"], env);
    assert.deepEqual([taken.exitCode, taken.code], [1, "VALIDATION_ERROR"]);
    const account = await runJson(["account", "create", "--email", "first@example.com"], env);
    assert.equal(account.tier, "free");
    assert.ok(!(await readdir(join(dataDir, "data"))).includes("secret"));
  });

  it("ends its sentences", async () => {
    const { message } = await runFailing(["account", "create", "--email", "nobody"], env);
    assert.match(message, /not "nobody"\. Correct/);
  });

  it("says in one line that a database is away", async () => {
    const away = { ...env, UPSTOW_DATABASE_URL: "postgres://nobody:secret@127.0.0.1:1/none" };
    const run = await runUpstow(["account", "create", "--email", "a@b.c"], away);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /^upstow: PostgreSQL is not available[^\n]*upstow doctor[^\n]*\n$/);
    assert.ok(!run.stderr.includes("secret"));
  });
});
