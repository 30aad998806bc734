import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

/** The name of a stored file is chosen by whoever uploaded it. */
describe("upstow files get", () => {
  let app: TestApp;
  let folder: string;
  let env: Record<string, string>;
  let key: string;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    const source = await mkdtemp(join(tmpdir(), "upstow-source-"));
    await writeFile(join(source, "note.txt"), "stored");
    env = { HOME: source, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
    [{ key }] = (await runJson(["upload", join(source, "note.txt")], env)).files;
  });
  after(async () => {
    await app.close();
    await rm(env["HOME"] ?? "", { recursive: true });
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-get-"));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const copyAs = async (name: string): Promise<string> =>
    (await runJson(["files", "cp", key, "--name", name], env)).file.key;
  const here = () => ({ ...env, npm_lifecycle_event: "upstow", INIT_CWD: folder });

  it("never writes over a file, nor through a link, without --force", async () => {
    await writeFile(join(folder, "note.txt"), "mine");
    for (const output of [[], ["--output", folder], ["--output", join(folder, "note.txt")]]) {
      const refused = await runFailing(["files", "get", key, ...output], here());
      assert.equal(refused.code, "ALREADY_EXISTS");
      assert.match(refused.message, /note\.txt already exists.*--force/);
      assert.equal(await readFile(join(folder, "note.txt"), "utf8"), "mine");
    }
    await symlink("nowhere", join(folder, "link"));
    const linked = await runFailing(["files", "get", key, "--output", join(folder, "link")], env);
    assert.equal(linked.code, "ALREADY_EXISTS");
    assert.ok((await lstat(join(folder, "link"))).isSymbolicLink());
    assert.deepEqual((await readdir(folder)).sort(), ["link", "note.txt"]);

    await runJson(["files", "get", key, "--force"], here());
    assert.equal(await readFile(join(folder, "note.txt"), "utf8"), "stored");
  });

  it("does not write through a link in the place of its unfinished download", async () => {
    const elsewhere = join(folder, "elsewhere");
    await writeFile(elsewhere, "mine");
    const digest = createHash("sha256").update("note.txt").digest("hex").slice(0, 16);
    await symlink(elsewhere, join(folder, `.${digest}.upstow-part`));
    const { path } = await runJson(["files", "get", key], here());
    assert.equal(await readFile(elsewhere, "utf8"), "mine");
    assert.ok((await lstat(path)).isFile());
    assert.deepEqual((await readdir(folder)).sort(), ["elsewhere", "note.txt"]);
  });

  it("is content with a file that has the same bytes already", async () => {
    const first = await runJson(["files", "get", key], here());
    const { mtimeMs } = await lstat(first.path);
    assert.deepEqual(await runJson(["files", "get", key], here()), first);
    assert.equal((await lstat(first.path)).mtimeMs, mtimeMs);
    const told = await runUpstow(["files", "get", key], here());
    assert.match(told.stdout, /note\.txt already exists with the same bytes\.\n$/);
  });

  it("asks for a name where the stored one is hidden", async () => {
    const hidden = await copyAs(".bashrc");
    for (const output of [[], ["--output", folder], ["--force"]]) {
      const refused = await runFailing(["files", "get", hidden, ...output], here());
      assert.equal(refused.code, "VALIDATION_ERROR");
      assert.match(refused.message, /starts with a dot\. Choose the file to write with --output\.$/);
    }
    assert.deepEqual(await readdir(folder), []);
    const chosen = join(folder, ".bashrc");
    await runJson(["files", "get", hidden, "--output", chosen], env);
    assert.equal(await readFile(chosen, "utf8"), "stored");
  });

  it("writes the last part of a name that is a path", async () => {
    const got = await runJson(["files", "get", await copyAs("../photos/a.txt")], here());
    assert.equal(got.path, join(folder, "a.txt"));
  });
});
