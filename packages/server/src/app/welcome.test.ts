import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startApp, type TestApp } from "../../test/support/start-app.ts";
import { parseCidrList } from "../kernel/net/cidr-list.ts";
import { findUnreachable, welcome } from "./welcome.ts";

const run = promisify(execFile);

describe("the first start's message", () => {
  let app: TestApp;
  let shown: string;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    shown = welcome(app.app.deps.config, app.app.firstStart);
  });
  after(() => app.close());

  const pasted = (pattern: RegExp) => shown.split("\n").filter((line) => pattern.test(line));

  it("shows keys, project and the dashboard's address", () => {
    for (const text of [app.owner.live, app.owner.test, app.owner.projectId]) assert.ok(shown.includes(text));
    assert.match(shown, /^ {2}Dashboard {2}http:\S+\/dashboard\/claim#\S{43}$/m);
  });

  it("says when a key meets its limit, and what raises it", () => {
    assert.match(shown, /30 upload requests per minute/);
    assert.match(shown, /UPSTOW_RATE_LIMITS/);
    const { config, firstStart } = { ...app.app.deps, ...app.app };
    const off = { upload: null, transform: null, other: null };
    assert.match(welcome({ ...config, rateLimits: off }, firstStart), /Rate limits are off/);
  });

  it("has a command that adds uploads to an app, as pasted", async () => {
    const [line = "", ...others] = pasted(/packages\/cli\.tgz init$/);
    assert.deepEqual(others, []);
    const folder = await mkdtemp(join(tmpdir(), "upstow-welcome-"));
    try {
      await writeFile(join(folder, "package.json"), '{ "dependencies": { "hono": "4" } }');
      // Nobody is there to say yes.
      await run("sh", ["-c", `${line.replace("npx", "npx --yes")} --yes --no-install`], { cwd: folder });
      const expected = `UPSTOW_URL=${app.app.deps.config.publicUrl}\nUPSTOW_API_KEY=${app.owner.test}\n`;
      assert.equal(await readFile(join(folder, ".env"), "utf8"), expected);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("has three lines that upload a file as pasted", async () => {
    const lines = pasted(/^UPLOAD=|-X PUT|upload\/complete/);
    assert.equal(lines.length, 3);
    const { stdout } = await run("sh", ["-c", lines.join("\n")]);
    const { file } = JSON.parse(stdout);
    assert.equal(file.status, "UPLOADED");
    assert.equal(await (await fetch(file.url)).text(), "Hello, Upstow.");
  });

  it("says what to set where nobody outside a container could call it", () => {
    const { config } = app.app.deps;
    assert.equal(findUnreachable(config), null);
    const inContainer = { ...config, host: "0.0.0.0", publicUrl: "http://localhost:4000" };
    assert.match(
      findUnreachable(inContainer) ?? "",
      /UPSTOW_TRUSTED_PROXIES;.*UPSTOW_HTTP_FROM=172\.16\.0\.0\/12/,
    );
    assert.equal(findUnreachable({ ...inContainer, publicUrl: "https://files.example.com" }), null);
    assert.equal(findUnreachable({ ...inContainer, httpFrom: parseCidrList("172.16.0.0/12") }), null);
  });

  it("is one line ever after", () => {
    assert.equal(
      welcome(app.app.deps.config, null),
      `Upstow is ready at ${app.url.replace("127.0.0.1", app.app.deps.config.host)}`,
    );
  });
});
