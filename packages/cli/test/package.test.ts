import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { findOldestNode } from "../../../test/support/oldest-node.ts";
import { packedPackage } from "../../../test/support/packed-package.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

const run = promisify(execFile);

describe("the command as it is published", () => {
  let folder: string;
  let project: string;
  let app: TestApp;
  const built = () => join(project, "node_modules/@upstow/cli");
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-cli-package-"));
    project = join(folder, "project");
    await mkdir(project);
    await writeFile(join(project, "package.json"), '{ "private": true }');
    const install = ["install", "--offline", "--no-audit", "--no-fund", packedPackage("cli")];
    await run("npm", install, { cwd: project });
    app = await startApp({ database: "sqlite" });
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const env = () => ({
    PATH: process.env["PATH"],
    HOME: project,
    UPSTOW_URL: app.url,
    UPSTOW_API_KEY: app.owner.test,
  });

  async function upstow(...args: string[]): Promise<string> {
    const bin = join(project, "node_modules/.bin/upstow");
    const { stdout } = await run(bin, args, { cwd: project, env: env() });
    return stdout;
  }

  it("needs no other package", async () => {
    const manifest = JSON.parse(await readFile(join(built(), "package.json"), "utf8"));
    for (const field of ["dependencies", "private"]) assert.equal(field in manifest, false, field);
    const { messages, pkg } = await publint({ pkgDir: built(), strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  it("loads on the oldest Node that runs npm beside the service", async () => {
    const onOldest = (...args: string[]) =>
      run(findOldestNode(), [join(built(), "upstow.js"), ...args], { env: env() });
    assert.match((await onOldest("--help")).stdout, /^ {2}upload <files…>/m);
    assert.match((await onOldest("files", "ls")).stdout, /\S/);
  });

  it("works in a fresh project, with the commands of users alone", async () => {
    const help = await upstow("--help");
    assert.match(help, /^ {2}upload <files…>/m);
    assert.doesNotMatch(help, /account create|doctor/);
    const { files } = JSON.parse(await upstow("upload", "package.json", "--json"));
    assert.equal(
      await (await fetch(files[0].url)).text(),
      await readFile(join(project, "package.json"), "utf8"),
    );
    assert.match(await upstow("files", "ls"), /package\.json/);
    assert.match(
      await upstow("init", "--framework", "hono", "--dry-run"),
      /^\+import .*"@upstow\/sdk\/hono";$/m,
    );
    await assert.rejects(upstow("doctor"), { code: 2 });
  });
});
