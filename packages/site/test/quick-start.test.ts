import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { startBrowser } from "../../server/test/support/browser.ts";
import { startApp } from "../../server/test/support/start-app.ts";
import { listBlocks } from "./support/doc-files.ts";

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

it("the quick start's page uploads an image and shows it", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "upstow-quick-start-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const service = stack.adopt(await startApp({ database: "sqlite" }), (app) => app.close());
  const block = listBlocks("docs/quick-start.md").find(({ path }) => path === "app.mjs");
  await writeFile(join(folder, "app.mjs"), block?.code ?? "");
  const port = await pickFreePort();
  const env = {
    ...process.env,
    UPSTOW_URL: service.url,
    UPSTOW_API_KEY: service.owner.test,
    PORT: String(port),
  };
  const app = spawn(process.execPath, ["app.mjs"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(() => void app.kill());
  await once(app.stdout, "data");

  const browser = stack.adopt(await startBrowser(), (open) => open.close());
  const page = await browser.newPage();
  await page.goto(`http://localhost:${port}`);
  await page.setInputFiles("input", { name: "dot.png", mimeType: "image/png", buffer: picture });
  const image = page.locator("img");
  await image.waitFor();
  await page.waitForFunction("document.querySelector('img').naturalWidth === 1");
  assert.match((await image.getAttribute("src")) ?? "", new RegExp(`^${service.url}/f/.*/dot\\.png$`));
  await page.setInputFiles("input", { name: "empty.png", mimeType: "image/png", buffer: Buffer.alloc(0) });
  await page.getByText("fileSize", { exact: false }).waitFor();
});
