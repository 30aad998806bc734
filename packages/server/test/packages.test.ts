import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "./support/start-app.ts";

describe("packages from the instance", () => {
  let app: TestApp;

  before(async () => {
    app = await startApp();
  });
  after(async () => {
    await app.close();
  });

  const list = async () => (await app.call("GET", "/packages")).body.packages;

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

  it("are what the docs install, at the instance's own address", async () => {
    const page = await (await fetch(`${app.url}/docs/guides/express`)).text();
    const { publicUrl } = app.app.deps.config;
    assert.ok(page.includes(` install ${publicUrl}/packages/sdk.tgz`));
    assert.doesNotMatch(page, /localhost:4000/);
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
});
