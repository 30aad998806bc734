import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

describe("private files on the command line", () => {
  let app: TestApp;
  let folder: string;
  let env: Record<string, string>;
  let key: string;
  let url: string;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    folder = await mkdtemp(join(tmpdir(), "upstow-link-"));
    await writeFile(join(folder, "note.txt"), "secret");
    env = { HOME: folder, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
    [{ key, url }] = (await runJson(["upload", join(folder, "note.txt")], env)).files;
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });
  const statusOf = async (address: string) => (await fetch(address)).status;

  it("changes the access of files, and reads private ones", async () => {
    const { stdout } = await runUpstow(["files", "access", "private", key], env);
    assert.equal(stdout, `${key} is private.\n`);
    assert.equal(await statusOf(url), 404);
    await runJson(["files", "get", key, "--output", join(folder, "got.txt")], env);
    assert.equal(await readFile(join(folder, "got.txt"), "utf8"), "secret");
    const { file } = await runJson(["files", "cp", key], env);
    assert.equal(file.access, "private");
    const wrong = await runFailing(["files", "access", "secret", key], env);
    assert.deepEqual([wrong.exitCode, wrong.code], [2, "USAGE"]);
    assert.equal((await runFailing(["files", "access", "public"], env)).exitCode, 2);
  });

  it("makes links and ends them", async () => {
    const link = (await runUpstow(["files", "link", key, "--expires-in", "60"], env)).stdout.trim();
    assert.equal(await (await fetch(link)).text(), "secret");
    const once = (await runJson(["files", "link", key, "--max-uses", "1", "--download"], env)).links[0];
    assert.equal(once.maxUses, 1);
    assert.match((await fetch(once.url)).headers.get("content-disposition") ?? "", /^attachment/);
    assert.equal(await statusOf(once.url), 403);
    assert.match(
      (await runUpstow(["files", "revoke", key], env)).stdout,
      /^Revoked the links of 1 file\.\n$/,
    );
    assert.equal(await statusOf(link), 403);
    for (const args of [["--all"], ["--audience", "team"]]) await runJson(["files", "revoke", ...args], env);
    const missing = await runUpstow(["files", "link", key, "none"], env);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /✖ none {2}File not found\./);
    for (const args of [["revoke"], ["revoke", key, "--all"], ["link", key, "--max-uses", "0"], ["link"]])
      assert.equal((await runFailing(["files", ...args], env)).exitCode, 2, args.join(" "));
  });
});
