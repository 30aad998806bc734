import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import type { Browser, Page } from "playwright-core";
import { findBarriers } from "../../../test/support/axe.ts";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { expectSoon } from "../../react/test/support/expect-soon.ts";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

const folder = fileURLToPath(new URL("../", import.meta.url));

describe("the gallery page", () => {
  let app: TestApp;
  let browser: Browser;
  before(async () => {
    if (!existsSync(`${folder}dist/manifest.json`)) spawnSync(process.execPath, [`${folder}build.mjs`]);
    [app, browser] = await Promise.all([startApp({ database: "sqlite" }), getBrowser()]);
  });
  after(async () => {
    await app?.close();
  });

  async function open(path: string, options = {}): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(app.url + path);
    return { page, complaints };
  }

  it("shows every component live, under its strict policy and without barriers", async () => {
    const { page, complaints } = await open("/components", {
      viewport: { width: 1280, height: 900 },
      // Colours on their way from one theme to the other are neither.
      reducedMotion: "reduce",
    });
    for (const { slug } of catalogue) {
      const demo = page.locator(`[data-demo=${slug}]`);
      await demo.scrollIntoViewIfNeeded();
      await demo.locator("[data-us-root], .us-ui, img").first().waitFor({ state: "attached" });
    }
    for (const theme of isQuickRun ? ["light"] : ["light", "dark"]) {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      // Below that: examples that stand side by side bear the same names.
      assert.deepEqual(
        await findBarriers(page, { onlySerious: true, onlyColours: theme === "dark" }),
        [],
        theme,
      );
    }
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it("simulates uploads, fails on demand and sends nothing anywhere", async () => {
    const { page, complaints } = await open("/components/upload-dropzone");
    await page.waitForSelector("[data-us-root]");
    const sent: string[] = [];
    page.on("request", (request) => request.url().startsWith("blob:") || sent.push(request.url()));
    const status = page.locator("[role=status]").first();
    await page.getByLabel("Let the next upload fail").check();
    await page.getByRole("button", { name: "Try it: UploadDropzone" }).click();
    await expectSoon(() => status.textContent(), /failed: Simulated connection failure\./);
    await expectSoon(async () => String(await page.locator(".us-row[data-status=done]").count()), /^3$/);
    await page.getByRole("button", { name: /^Retry / }).click();
    await expectSoon(async () => String(await page.locator(".us-row[data-status=done]").count()), /^4$/);
    assert.deepEqual(sent, []);
    assert.deepEqual(complaints, []);
    await page.close();
  });

  it("fits a phone, turns around and changes its colours", async () => {
    const { page } = await open("/components/upload-dropzone", { viewport: { width: 390, height: 800 } });
    const button = page.locator(".gallery-demo .us-button").first();
    await button.waitFor();
    const [whole, area] = await Promise.all(
      [".us-dropzone", ".us-dropzone-area"].map((part) => page.locator(part).boundingBox()),
    );
    assert.equal(whole?.height, area?.height, "no list, no room for it");
    const colour = () =>
      page.evaluate("getComputedStyle(document.querySelector('.gallery-demo .us-button')).backgroundColor");
    const before = await colour();
    await page.getByLabel("Accent").selectOption("teal");
    await expectSoon(async () => String((await colour()) !== before), /true/);
    await page.getByLabel("Right to left").check();
    assert.equal(await page.locator(".gallery-demo").getAttribute("dir"), "rtl");
    await page.getByRole("button", { name: "Try it: UploadDropzone" }).click();
    await page.locator(".us-row[data-status=done]").first().waitFor();
    const places =
      await page.evaluate(`[...document.querySelectorAll(".us-row[data-status=done] .us-meta")].map((meta) => {
      const range = document.createRange();
      const [number, unit, end] = [0, meta.textContent.indexOf("B"), meta.textContent.length - 1].map((at) => {
        range.setStart(meta.firstChild, at);
        range.setEnd(meta.firstChild, at + 1);
        return range.getBoundingClientRect();
      });
      const gap = meta.getBoundingClientRect().right - end.right;
      return [number.x < unit.x, gap < 1].join();
    })`);
    assert.equal(
      (places as string[])[0],
      "true,true",
      "a size is read from the left, and stands on the right",
    );
    const widths = await page.evaluate(
      "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
    );
    const [scrolled = 0, shown = 0] = widths as number[];
    assert.ok(scrolled <= shown, `${scrolled} px wide on a screen of ${shown}`);
    await page.close();
  });

  it("keeps a preview as high as it is while files are added, and centres a small component", async () => {
    const { page } = await open("/components/upload-button", { viewport: { width: 1440, height: 900 } });
    const demo = page.locator(".gallery-demo");
    const button = demo.locator(".us-button");
    await button.waitFor();
    const middle = async (part: typeof demo) => {
      const { x, width } = (await part.boundingBox()) ?? assert.fail();
      return x + width / 2;
    };
    assert.ok(Math.abs((await middle(button)) - (await middle(demo))) < 1);
    await page.goto(`${app.url}/components/upload-dropzone`);
    const height = async () => (await demo.boundingBox())?.height;
    const before = await height();
    await page.getByRole("button", { name: "Try it: UploadDropzone" }).click();
    await demo.locator(".us-row").nth(3).waitFor();
    assert.equal(await height(), before);
    await page.close();
  });

  it("shows the focus as each component does, inside of what would cut it", async () => {
    for (const [slug, part] of [
      ["gallery-grid", ".us-grid-add"],
      ["progress-liquid", ".us-liquid-button"],
    ] as const) {
      const { page } = await open(`/components/${slug}`);
      await page.locator(part).waitFor();
      await page.keyboard.press("Tab");
      await page.locator(part).focus();
      const ring = "(({ outlineStyle, outlineOffset }) => [outlineStyle, parseInt(outlineOffset) < 0])";
      const shown = await page.evaluate(`${ring}(getComputedStyle(document.activeElement))`);
      assert.deepEqual(shown, ["solid", true], slug);
      await page.close();
    }
  });

  it("leaves the tabs of a component without the style of the page's own", async () => {
    const { page } = await open("/components/source-tabs");
    await page.locator("[data-demo] [role=tab]").first().waitFor();
    const lines = await page.evaluate(
      "['.tabs > [role=tablist] > [role=tab]', '[data-demo] [role=tab]'].map((tab) => getComputedStyle(document.querySelector(tab)).borderBottomWidth)",
    );
    assert.deepEqual(lines, ["2px", "0px"]);
    await page.close();
  });

  it("copies code as it stands in the catalogue", async () => {
    const { page } = await open("/components/upload-wizard", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("tab", { name: "Code" }).click();
    await page.getByRole("tabpanel", { name: "Code" }).getByRole("button", { name: "Copy" }).click();
    const entry = catalogue.find(({ slug }) => slug === "upload-wizard");
    const copied = await page.evaluate("navigator.clipboard.readText()");
    assert.equal(String(copied).trimEnd(), entry?.usage.trimEnd());
    await page.close();
  });

  it("keeps assets for ever and pages not at all", async () => {
    const { headers, body } = await app.call("GET", "/components");
    assert.equal(headers.get("cache-control"), "no-cache");
    const [, script = ""] = /src="(\/components\/assets\/[^"]+\.js)"/.exec(body) ?? [];
    const asset = await app.call("GET", script);
    assert.match(asset.headers.get("cache-control") ?? "", /immutable/);
    const etag = headers.get("etag") ?? "";
    assert.equal((await app.call("GET", "/components", { headers: { "if-none-match": etag } })).status, 304);
    const missing = await app.call("GET", "/components/assets/..%2f..%2fpackage.json");
    assert.equal(missing.status, 404);
    assert.equal(missing.body.error.code, "NOT_FOUND");
  });

  it("is made of code that compiles", () => {
    const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));
    const { stdout } = spawnSync(tsc, ["-p", folder, "--singleThreaded"], { encoding: "utf8" });
    assert.equal(stdout, "");
  });
});
