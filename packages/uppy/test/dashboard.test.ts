import assert from "node:assert/strict";
import { createHash, randomFillSync } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { startApplication, type TestApplication, until } from "../../sdk/test/support/start-application.ts";
import { MB } from "../../sdk/test/support/start-service.ts";
import { browserMissing, startBrowser } from "../../server/test/support/browser.ts";

const large = randomFillSync(Buffer.alloc(26 * MB));
const partCount = 6;
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

interface Stored {
  name: string;
  url: string;
  result: { by: string };
}

describe("Uppy's Dashboard in Chromium", { skip: browserMissing }, () => {
  let application: TestApplication;
  let browser: Browser;
  let context: BrowserContext;
  let folder: string;
  const storage = () => application.service.storage;
  const stored = () => storage().puts.filter((put) => put.status === 200);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-uppy-"));
    await writeFile(join(folder, "large.bin"), large);
    await writeFile(join(folder, "small.txt"), "a small file");
    await writeFile(join(folder, "picture.png"), "a picture");
    const style = fileURLToPath(import.meta.resolve("@uppy/dashboard/css/style.min.css"));
    application = await startApplication({
      page: {
        html: `<!doctype html><title>Uppy</title><style>${await readFile(style, "utf8")}</style>
<div id="uppy"></div><script type="module" src="/page.js"></script>`,
        entry: fileURLToPath(new URL("support/page.ts", import.meta.url)),
      },
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    await application.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    storage().puts.length = 0;
    storage().cutsPut = () => false;
    storage().allow(Number.POSITIVE_INFINITY);
    await context?.close();
    context = await browser.newContext();
  });

  /** Chooses files in the Dashboard and presses its button. */
  async function startUpload(names: string[], options = "{}"): Promise<Page> {
    const page = await context.newPage();
    await page.goto(application.site.url);
    await page.waitForFunction("window.isReady");
    await page.evaluate(`start(${options})`);
    await page
      .locator("input.uppy-Dashboard-input")
      .first()
      .setInputFiles(names.map((name) => join(folder, name)));
    await page.locator(".uppy-StatusBar-actionBtn--upload").click();
    return page;
  }

  async function finished(page: Page): Promise<Stored[]> {
    await page.locator(".uppy-StatusBar.is-complete").waitFor({ timeout: 0 });
    return page.evaluate("succeeded");
  }

  async function listOpen(): Promise<string[]> {
    const { body } = await application.service.app.call("GET", "files", { key: application.service.apiKey });
    return body.files
      .filter((file: { status: string }) => file.status === "UPLOADING")
      .map((file: { name: string }) => file.name);
  }

  async function assertStored(url: string, expected: Uint8Array): Promise<void> {
    assert.equal(hashOf(new Uint8Array(await (await fetch(url)).arrayBuffer())), hashOf(expected));
  }

  it("uploads large files in parts and small ones whole, and hands on what the backend answered", async () => {
    const page = await startUpload(["large.bin", "small.txt"]);
    const files = (await finished(page)).sort((a, b) => a.name.localeCompare(b.name));
    assert.deepEqual(
      files.map((file) => [file.name, file.result.by]),
      [
        ["large.bin", "ann"],
        ["small.txt", "ann"],
      ],
    );
    await assertStored(files[0]?.url ?? "", large);
    await assertStored(files[1]?.url ?? "", Buffer.from("a small file"));
    assert.equal(stored().length, partCount + 1);
    assert.equal(application.site.actions.filter((action) => action === "begin").length, 1);
    const progress = await page.evaluate<number[]>("progress");
    assert.ok(
      progress.some((percent) => percent > 0 && percent < 100),
      String(progress),
    );
  });

  it("sends nothing while it is paused, and goes on with what is missing", async () => {
    storage().allow(2);
    const page = await startUpload(["large.bin"]);
    await until(() => stored().length === 2 && storage().puts.length === 5);
    await page.locator(".uppy-StatusBar-actionCircleBtn[title=Pause]").click();
    storage().dropHeld();
    const before = storage().puts.length;
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(storage().puts.length, before);
    await page.locator(".uppy-StatusBar-actionCircleBtn[title=Resume]").click();
    const [file] = await finished(page);
    await assertStored(file?.url ?? "", large);
    assert.equal(stored().length, partCount);
  });

  it("leaves nothing behind when it is cancelled, for one file and for all", async () => {
    for (const button of [
      ".uppy-Dashboard-Item-action--remove",
      ".uppy-StatusBar-actionCircleBtn[title=Cancel]",
    ]) {
      storage().allow(2);
      storage().puts.length = 0;
      const page = await startUpload(["large.bin"]);
      await until(() => stored().length === 2);
      await page.locator(button).first().click();
      await until(async () => (await listOpen()).length === 0);
      storage().dropHeld();
      assert.deepEqual(await page.evaluate("uppy.getFiles().length"), 0);
      assert.deepEqual(await page.evaluate("failed"), []);
    }
  });

  it("resumes after its page was closed half-way", async () => {
    storage().allow(3);
    const first = await startUpload(["large.bin"]);
    await until(() => stored().length === 3);
    await first.close();
    storage().dropHeld();
    storage().puts.length = 0;
    storage().allow(Number.POSITIVE_INFINITY);
    const second = await startUpload(["large.bin"]);
    const [file] = await finished(second);
    await assertStored(file?.url ?? "", large);
    assert.equal(stored().length, partCount - 3);
  });

  it("shows what failed, and retries it", async () => {
    storage().cutsPut = () => true;
    const page = await startUpload(["small.txt"], "{ retries: 1 }");
    await page.locator(".uppy-StatusBar-actionBtn--retry").waitFor({ timeout: 0 });
    assert.deepEqual(await page.evaluate("failed"), ["small.txt: The connection to the storage broke."]);
    storage().cutsPut = () => false;
    await page.locator(".uppy-StatusBar-actionBtn--retry").click();
    const [file] = await finished(page);
    await assertStored(file?.url ?? "", Buffer.from("a small file"));
  });

  it("asks for the input of every file, and refuses one without those beside it", async () => {
    const input = "(file) => ({ album: file.size })";
    const page = await startUpload(["picture.png", "small.txt"], `{ route: "album", input: ${input} }`);
    await page.waitForFunction("succeeded.length + failed.length === 2", null, { timeout: 0 });
    assert.deepEqual(await page.evaluate("failed"), [
      'small.txt: "small.txt" is text/plain, which is not accepted here.',
    ]);
    const [file] = await page.evaluate<{ name: string; result: number }[]>("succeeded");
    assert.deepEqual([file?.name, file?.result], ["picture.png", 9]);
  });
});
