import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

describe("signing in", () => {
  let app: TestApp;
  let home: string;
  let env: Record<string, string>;
  const file = () => join(home, ".config/upstow/credentials.json");
  before(async () => {
    app = await startApp({ database: "sqlite" });
    home = await mkdtemp(join(tmpdir(), "upstow-home-"));
    env = { HOME: home };
  });
  after(async () => {
    await app.close();
    await rm(home, { recursive: true });
  });

  it("refuses a key that the service does not know, and keeps nothing", async () => {
    const failure = await runFailing(["login", "--url", app.url, "--key", "svc_live_wrong"], env);
    assert.deepEqual([failure.exitCode, failure.code], [1, "UNAUTHORIZED"]);
    await assert.rejects(stat(file()), { code: "ENOENT" });
  });

  it("reads the key from standard input and keeps it where nobody else can read it", async () => {
    const run = await runUpstow(["login", "--url", `${app.url}/`, "--json"], env, `${app.owner.test}\n`);
    assert.equal(run.code, 0, run.stderr);
    assert.deepEqual(JSON.parse(run.stdout), {
      url: app.url,
      type: "test",
      tier: "enterprise",
      savedTo: file(),
    });
    assert.ok(!(run.stdout + run.stderr).includes(app.owner.test));
    assert.equal((await stat(file())).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(await readFile(file(), "utf8")), { url: app.url, apiKey: app.owner.test });
  });

  it("never sends a kept key elsewhere", async () => {
    const failure = await runFailing(["files", "ls"], { ...env, UPSTOW_URL: "http://localhost:1" });
    assert.deepEqual([failure.exitCode, failure.code], [1, "UNAUTHORIZED"]);
    assert.match(failure.message, /signed in to http:\/\/127/);
  });

  it("puts the environment first", async () => {
    const elsewhere = { ...env, UPSTOW_URL: app.url, UPSTOW_API_KEY: "svc_live_other" };
    assert.equal((await runFailing(["files", "ls"], elsewhere)).code, "UNAUTHORIZED");
    assert.deepEqual((await runJson(["files", "ls"], env)).files, []);
  });

  it("shows no key on the way, and says what is wrong with an address", async () => {
    const plain = await runFailing(["login", "--url", "http://files.example.com", "--key", "k"], env);
    assert.deepEqual([plain.exitCode, plain.code], [1, "CONFIGURATION"]);
    assert.match(plain.message, /https:\/\//);
    const odd = await runFailing(["login", "--url", "files", "--key", "k"], env);
    assert.match(odd.message, /--url must be a URL such as https:/);
    assert.equal(odd.exitCode, 2);
    const unset = await runFailing(["login", "--key", "k"], { ...env, UPSTOW_URL: "" });
    assert.notEqual(unset.code, "CONFIGURATION", unset.message);
    const away = await runFailing(["login", "--url", "http://127.0.0.1:1", "--key", "k"], env);
    assert.equal(away.code, "NETWORK_ERROR");
    assert.match(away.message, /Check that the service is running/);
  });

  it("names a damaged file, and forgets the key when asked to", async () => {
    await writeFile(file(), "{");
    assert.match(
      (await runFailing(["files", "ls"], env)).message,
      /credentials\.json is damaged.*upstow login/,
    );
    await runUpstow(["login", "--url", app.url, "--key", app.owner.live], env);
    assert.deepEqual(await runJson(["logout"], env), { signedOut: true });
    assert.deepEqual(await runJson(["logout"], env), { signedOut: false });
    assert.match((await runFailing(["files", "ls"], env)).message, /not signed in.*upstow login/);
  });
});
