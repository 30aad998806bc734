import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startApp, type TestApp } from "./support/start-app.ts";

const run = promisify(execFile);

describe("packages from the instance, installed", () => {
  let app: TestApp;
  let project: string;

  before(async () => {
    app = await startApp();
    project = await mkdtemp(join(tmpdir(), "upstow-packages-"));
    await writeFile(join(project, "package.json"), '{ "private": true }');
  });
  after(async () => {
    await app.close();
    await rm(project, { recursive: true });
  });

  /** Peers would come from the registry; those that matter here are named. */
  const npm = (...args: string[]) =>
    run("npm", [...args, "--legacy-peer-deps", "--no-audit", "--no-fund"], { cwd: project });

  it("bring the command along, which needs no checkout to set a project up", async () => {
    const shop = await mkdtemp(join(project, "shop-"));
    await writeFile(join(shop, "package.json"), '{ "dependencies": { "hono": "4" } }');
    const args = ["--yes", `${app.url}/packages/cli.tgz`, "init", shop, "--yes", "--no-install", "--json"];
    const env = { ...process.env, HOME: shop, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.test };
    const { stdout } = await run("npx", args, { cwd: project, env });
    assert.deepEqual(JSON.parse(stdout).framework, "hono");
    assert.match(
      await readFile(join(shop, "package.json"), "utf8"),
      new RegExp(`"@upstow/sdk": "${app.url}/packages/sdk.tgz"`),
    );
  });

  it("install in an empty project, run, and survive the next install", async () => {
    const urls = ["sdk", "react", "uppy"].map((name) => `${app.url}/packages/${name}.tgz`);
    await npm("install", ...urls);
    const importSdk = 'import("@upstow/sdk").then((sdk) => console.log(typeof sdk.createUpstow))';
    const check = async () =>
      (await run(process.execPath, ["-e", importSdk], { cwd: project })).stdout.trim();
    assert.equal(await check(), "function");
    await npm("install");
    await npm("dedupe");
    assert.equal(await check(), "function");
    for (const name of ["sdk", "react", "uppy"]) {
      const manifest = JSON.parse(
        await readFile(join(project, "node_modules/@upstow", name, "package.json"), "utf8"),
      );
      assert.equal(manifest.name, `@upstow/${name}`);
      assert.equal("private" in manifest, false);
    }
  });
});
