import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startApp, type TestApp } from "./support/start-app.ts";

const run = promisify(execFile);

describe("packages from the instance", () => {
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

  const list = async () => (await app.call("GET", "/packages")).body.packages;
  /** Peers would come from the registry; those that matter here are named. */
  const npm = (...args: string[]) =>
    run("npm", [...args, "--legacy-peer-deps", "--no-audit", "--no-fund"], { cwd: project });

  it("are listed with the address of the instance", async () => {
    const packages = await list();
    assert.deepEqual(
      packages.map(({ name, url }: { name: string; url: string }) => [
        name,
        url.replace(app.app.deps.config.publicUrl, ""),
      ]),
      [
        ["@upstow/sdk", "/packages/sdk.tgz"],
        ["@upstow/react", "/packages/react.tgz"],
        ["@upstow/uppy", "/packages/uppy.tgz"],
        ["@upstow/cli", "/packages/cli.tgz"],
      ],
    );
    for (const { version } of packages) assert.match(version, /^\d+\.\d+\.\d+$/);
  });

  it("have a strong ETag, and nothing is sent twice", async () => {
    const first = await fetch(`${app.url}/packages/sdk.tgz`);
    const etag = first.headers.get("etag") ?? "";
    assert.match(etag, /^"[0-9a-f]{32}"$/);
    assert.ok((await first.arrayBuffer()).byteLength > 10_000);
    const again = await fetch(`${app.url}/packages/sdk.tgz`, { headers: { "if-none-match": etag } });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
    const head = await fetch(`${app.url}/packages/sdk.tgz`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("etag")], [200, etag]);
  });

  it("are served under their version too, and under no other", async () => {
    const [{ version }] = await list();
    const get = async (name: string) =>
      Buffer.from(await (await fetch(`${app.url}/packages/${name}`)).bytes());
    assert.deepEqual(await get(`cli-${version}.tgz`), await get("cli.tgz"));
    assert.equal((await app.call("GET", "/packages/cli-0.0.0.tgz")).status, 404);
  });

  it("that do not exist are 404, wherever the name points", async () => {
    for (const name of ["server.tgz", "packages.json", "..%2f..%2fpackage.json", "sdk"]) {
      const answer = await app.call("GET", `/packages/${name}`);
      assert.deepEqual([answer.status, answer.body.error?.code], [404, "NOT_FOUND"], name);
    }
  });

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
