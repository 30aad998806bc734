import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { slowTest } from "../../../test/support/quick-run.ts";
import { inBrowser } from "../../sdk/test/support/in-browser.ts";
import { until } from "../../sdk/test/support/start-application.ts";
import { MB } from "../../sdk/test/support/start-service.ts";
import { browserMissing } from "../../server/test/support/browser.ts";

const large = randomFillSync(Buffer.alloc(26 * MB));
const small = Buffer.from("a small file");
const partCount = 6;
const style = readFileSync(fileURLToPath(import.meta.resolve("@uppy/dashboard/css/style.min.css")), "utf8");

interface Stored {
  name: string;
  url: string;
  result: { by: string };
}

describe("Uppy's Dashboard in Chromium", { skip: browserMissing }, () => {
  const suite = inBrowser(
    { "large.bin": large, "small.txt": small, "picture.png": Buffer.from("a picture") },
    {
      page: {
        html: `<!doctype html><title>Uppy</title><style>${style}</style>
<div id="uppy"></div><script type="module" src="/page.js"></script>`,
        entry: fileURLToPath(new URL("support/page.ts", import.meta.url)),
      },
    },
  );
  const { storage, arrived, listOpen, assertStored } = suite;

  /** Chooses files in the Dashboard and presses its button. */
  async function choose(page: Page, names: string[]): Promise<void> {
    await page.locator("input.uppy-Dashboard-input").first().setInputFiles(names.map(suite.pathTo));
    await page.locator(".uppy-StatusBar-actionBtn--upload").click();
  }

  async function startUpload(names: string[], options = "{}"): Promise<Page> {
    const page = await suite.openPage();
    await page.evaluate(`start(${options})`);
    await choose(page, names);
    return page;
  }

  async function finished(page: Page): Promise<Stored[]> {
    await page.locator(".uppy-StatusBar.is-complete").waitFor({ timeout: 0 });
    return page.evaluate("succeeded");
  }

  it("uploads large files in parts and small ones whole, and hands on what the backend answered", async () => {
    // Held up half-way until the page has told of it.
    storage().allow(2);
    const page = await startUpload(["large.bin", "small.txt"]);
    await page.waitForFunction("progress.some((percent) => percent > 0 && percent < 100)", null, {
      timeout: 0,
    });
    storage().allow(Number.POSITIVE_INFINITY);
    const files = (await finished(page)).sort((a, b) => a.name.localeCompare(b.name));
    assert.deepEqual(
      files.map((file) => [file.name, file.result.by]),
      [
        ["large.bin", "ann"],
        ["small.txt", "ann"],
      ],
    );
    await assertStored(files[0]?.url, large);
    await assertStored(files[1]?.url, small);
    assert.equal(arrived().length, partCount + 1);
    assert.equal(suite.application().site.actions.filter((action) => action === "begin").length, 1);
  });

  it("sends nothing while it is paused, and goes on with what is missing", async () => {
    storage().allow(2);
    const page = await startUpload(["large.bin"]);
    await until(() => arrived().length === 2 && storage().puts.length === 5);
    await page.locator(".uppy-StatusBar-actionCircleBtn[title=Pause]").click();
    await page.locator(".uppy-StatusBar-actionCircleBtn[title=Resume]").waitFor();
    // Lines of a page that has let go are not cut: a browser would send again by itself.
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(storage().puts.length, 5);
    await page.locator(".uppy-StatusBar-actionCircleBtn[title=Resume]").click();
    const [file] = await finished(page);
    await assertStored(file?.url, large);
    assert.equal(storage().puts.length, 5 + partCount - 2);
  });

  slowTest("uploads a file again that was uploaded before its list was cleared", async () => {
    const page = await startUpload(["small.txt"]);
    await finished(page);
    await page.locator(".uppy-StatusBar-actionBtn--done").click();
    await choose(page, ["small.txt"]);
    const [first, second] = await finished(page);
    assert.notEqual(first?.url, second?.url);
    await assertStored(second?.url, small);
    assert.equal(arrived().length, 2);
  });

  it("leaves nothing behind when it is cancelled, for one file and for all", async () => {
    const click = (button: string) => (page: Page) => page.locator(button).first().click();
    for (const cancel of [
      click(".uppy-Dashboard-Item-action--remove"),
      click(".uppy-StatusBar-actionCircleBtn[title=Cancel]"),
      (page: Page) => page.evaluate("uppy.clear()"),
    ]) {
      storage().allow(2);
      storage().puts.length = 0;
      const page = await startUpload(["large.bin"]);
      await until(() => arrived().length === 2);
      await cancel(page);
      await until(async () => (await listOpen()).length === 0);
      storage().dropHeld();
      assert.deepEqual(await page.evaluate("uppy.getFiles().length"), 0);
      assert.deepEqual(await page.evaluate("failed"), []);
    }
  });

  it("resumes after its page was closed half-way", async () => {
    storage().allow(3);
    const first = await startUpload(["large.bin"]);
    await until(() => arrived().length === 3);
    await first.close();
    storage().dropHeld();
    storage().puts.length = 0;
    storage().allow(Number.POSITIVE_INFINITY);
    const second = await startUpload(["large.bin"]);
    const [file] = await finished(second);
    await assertStored(file?.url, large);
    assert.equal(arrived().length, partCount - 3);
  });

  it("shows what failed, and retries it", async () => {
    storage().cutsPut = () => true;
    const page = await startUpload(["small.txt"], "{ retries: 1 }");
    await page.locator(".uppy-StatusBar-actionBtn--retry").waitFor({ timeout: 0 });
    assert.deepEqual(await page.evaluate("failed"), [
      "small.txt: The connection to the storage was interrupted.",
    ]);
    storage().cutsPut = () => false;
    await page.locator(".uppy-StatusBar-actionBtn--retry").click();
    const [file] = await finished(page);
    await assertStored(file?.url, small);
  });

  slowTest("asks for the input of every file, and refuses one without those beside it", async () => {
    const input = "(file) => ({ album: file.size })";
    const page = await startUpload(["picture.png", "small.txt"], `{ route: "album", input: ${input} }`);
    await page.waitForFunction("succeeded.length + failed.length === 2", null, { timeout: 0 });
    assert.deepEqual(await page.evaluate("failed"), [
      'small.txt: "small.txt" is text/plain, which is not accepted here.',
    ]);
    const [file] = await page.evaluate<{ name: string; result: number }[]>("succeeded");
    assert.deepEqual([file?.name, file?.result], ["picture.png", 9]);
  });

  slowTest(
    "counts all files that were chosen together, also where each has an input of its own",
    async () => {
      const page = await startUpload(["picture.png", "small.txt"], '{ route: "few", input: () => null }');
      await page.waitForFunction("succeeded.length + failed.length === 2", null, { timeout: 0 });
      assert.deepEqual(await page.evaluate("failed.toSorted()"), [
        "picture.png: At most 1 file can be uploaded at once.",
        "small.txt: At most 1 file can be uploaded at once.",
      ]);
      assert.equal(arrived().length, 0);
    },
  );

  slowTest("opens and completes many small files in two or three calls", async () => {
    const page = await suite.openPage();
    await page.evaluate("start({})");
    const files = Array.from({ length: 12 }, (_, i) => ({
      name: `${i}.txt`,
      mimeType: "text/plain",
      buffer: Buffer.from(`text ${i}`),
    }));
    await page.locator("input.uppy-Dashboard-input").first().setInputFiles(files);
    await page.locator(".uppy-StatusBar-actionBtn--upload").click();
    await page.locator(".uppy-StatusBar.is-complete").waitFor({ timeout: 60_000 });
    const calls = storage().calls.filter((call) => call.includes("/api/v1/upload/"));
    assert.ok(calls.length <= 3, calls.join("\n"));
    assert.equal(arrived().length, 12);
  });
});
