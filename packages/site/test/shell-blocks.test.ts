import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { docFiles, listBlocks } from "./support/doc-files.ts";

const run = promisify(execFile);

/** The curl examples of a page belong together: what one sets, the next uses. */
const scripts = docFiles.flatMap((file) => {
  const blocks = listBlocks(file).filter(({ language, code }) => language === "sh" && code.includes("curl "));
  return blocks.length === 0 ? [] : [{ file, script: blocks.map(({ code }) => code).join("\n") }];
});

describe("the curl examples", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database: "sqlite", keepRateLimits: true });
  });
  after(() => app.close());

  it("are on the pages that teach the API", () => {
    const files = scripts.map(({ file }) => file);
    for (const name of ["docs/guides/http.md", "docs/guides/webhooks.md", "docs/guides/images.md"])
      assert.ok(files.includes(name), name);
  });

  for (const { file, script } of scripts) {
    it(`of ${file} work as they stand, within the rate limits`, async () => {
      const tenant = await app.createTenant("enterprise");
      const folder = await mkdtemp(join(tmpdir(), "upstow-curl-"));
      const env = {
        ...process.env,
        UPSTOW_URL: app.url,
        UPSTOW_API_KEY: tenant.test,
        UPSTOW_LIVE_KEY: tenant.live,
      };
      try {
        const args = ["-euo", "pipefail", "-c", script];
        const { stdout } = await run("bash", args, { cwd: folder, env, maxBuffer: 2 ** 24 });
        assert.doesNotMatch(stdout, /"error":\{/, stdout);
        assert.notEqual(stdout.trim(), "");
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  }
});
