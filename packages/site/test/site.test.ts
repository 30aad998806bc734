import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, BrowserContextOptions, Page, Response } from "playwright-core";
import { findBarriers } from "../../../test/support/axe.ts";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

const firstPageMaxBytes = 100 * 1024;
/** One of each kind: prose, code, tables, a generated page, the search, the explorer. */
const kinds = [
  "/",
  "/docs",
  "/docs/concepts/quotas",
  "/docs/reference/api/files",
  "/docs/reference/sdk/webhooks",
  "/docs/search?q=webhook",
  "/docs/reference/explorer",
];

describe("the site", () => {
  let app: TestApp;
  let browser: Browser;
  before(async () => {
    [app, browser] = await Promise.all([startApp({ database: "sqlite" }), getBrowser()]);
  });
  after(() => app?.close());

  /** A page of its own whose every complaint and every request is kept. */
  async function open(options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const complaints: string[] = [];
    const responses: Response[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("request", (request) => {
      if (!request.url().startsWith(app.url)) complaints.push(`asked for ${request.url()}`);
    });
    page.on("response", (response) => responses.push(response));
    const go = (path: string) => page.goto(app.url + path, { waitUntil: "networkidle" });
    return { page, go, complaints, responses, close: () => context.close() };
  }

  it("has no dead link, from the welcome to the last page", async () => {
    const seen = new Map<string, string>([["/", ""]]);
    for (const [path, from] of seen) {
      const response = await fetch(app.url + path);
      assert.equal(response.status, 200, `${path}, linked from ${from}`);
      const html = await response.text();
      if (!path.startsWith("/docs") && path !== "/") continue;
      const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
      for (const [, href = ""] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        if (href.startsWith("#")) assert.ok(ids.has(decodeURIComponent(href.slice(1))), `${path} ${href}`);
        const [target = ""] = href.split("#");
        if (target.startsWith("/") && !seen.has(target)) seen.set(target, path);
        assert.ok(/^(?:[/#]|https?:)/.test(href), `${path} links to ${href}`);
      }
    }
    const pages = [...seen.keys()].filter((path) => /^\/docs\/(?!images\/)/.test(path));
    assert.ok(pages.length > 50, `${pages.length} pages`);
    const map = await (await fetch(`${app.url}/llms.txt`)).text();
    for (const path of pages) {
      assert.ok(map.includes(`${path}.md)`), `llms.txt lacks ${path}`);
      assert.match(await (await fetch(`${app.url}${path}.md`)).text(), /^# /, `${path}.md`);
    }
  });

  it("is accessible by day and night, quiet, without requests elsewhere, and fits a phone", async () => {
    const { page, go, complaints, close } = await open();
    for (const path of kinds) {
      await page.setViewportSize({ width: 390, height: 800 });
      await go(path);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390, path);
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        assert.deepEqual(
          await findBarriers(page, { onlyColours: colorScheme === "dark" }),
          [],
          `${path}, ${colorScheme}`,
        );
      }
    }
    assert.deepEqual(complaints, []);
    await close();
  });

  it("shows its first page with less than 100 KB", async () => {
    const { go, responses, close } = await open();
    await go("/docs");
    const bodies = await Promise.all(responses.map((response) => response.body()));
    const sizeBytes = bodies.reduce((sum, body) => sum + body.length, 0);
    assert.ok(bodies.length >= 3 && sizeBytes < firstPageMaxBytes, `${sizeBytes} bytes`);
    await close();
  });

  it("finds pages while one types, and changes its colours", async () => {
    const { page, go, close } = await open({ colorScheme: "light" });
    await go("/docs");
    await page.keyboard.press("/");
    await page.keyboard.type("verfy webhok");
    await page.locator(".results a", { hasText: "Webhooks" }).first().click();
    await page.waitForURL(/\/docs\/guides\/webhooks(#|$)/);
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await page.getByRole("button", { name: "Switch between light and dark" }).click();
    assert.notEqual(await ground(), light);
    await close();
  });

  it("searches by keyboard: through the text, through the hits and back", async () => {
    const { page, go, close } = await open();
    await go("/docs");
    await page.keyboard.press("/");
    await page.keyboard.type("ebhooks");
    for (const _ of "ebhooks") await page.keyboard.press("ArrowLeft");
    await page.keyboard.type("w");
    const box = page.getByLabel("Search the docs");
    assert.equal(await box.inputValue(), "webhooks");
    const hits = page.locator(".results a");
    await hits.filter({ hasText: "Webhooks" }).first().waitFor();
    const focused = () => page.evaluate("document.activeElement.localName");
    await page.keyboard.press("ArrowDown");
    assert.equal(await focused(), "a");
    await page.keyboard.press("Escape");
    assert.equal(await focused(), "input");
    assert.equal(await hits.first().isVisible(), false);
    await close();
  });

  it("keeps the hit that is chosen when a later answer comes", async () => {
    const { page, go, close } = await open();
    await go("/docs");
    const second = Promise.withResolvers<void>();
    await page.route("**/docs/search.json?q=webhooks", async (route) => {
      await second.promise;
      await route.continue();
    });
    await page.keyboard.press("/");
    await page.keyboard.type("webhook");
    const hits = page.locator(".results a");
    await hits.filter({ hasText: "Webhooks" }).first().waitFor();
    await page.keyboard.type("s");
    await page.waitForRequest(/q=webhooks/);
    await page.keyboard.press("ArrowDown");
    const chosen = () => page.evaluate("document.activeElement.href");
    const before = await chosen();
    assert.match(String(before), /\/docs\//);
    const answered = page.waitForResponse(/q=webhooks/);
    second.resolve();
    await (await answered).finished();
    await page.waitForFunction("document.querySelectorAll('.results a').length > 0");
    assert.match(String(await chosen()), /\/docs\//);
    await close();
  });

  it("shows on a phone what there is to copy, and nothing through what was found", async () => {
    const viewport = { width: 390, height: 800 };
    const { page, go, close } = await open({ viewport, hasTouch: true, isMobile: true });
    await go("/docs");
    assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.copy')).opacity"), "1");
    await page.getByLabel("Search the docs").fill("webhook");
    await page.locator(".results a").nth(6).waitFor();
    const isOnTop = `[...document.querySelectorAll(".results a")].every((hit) => {
      const { left, top } = hit.getBoundingClientRect();
      return hit.contains(document.elementFromPoint(left + 5, top + 5));
    })`;
    assert.equal(await page.evaluate(isOnTop), true);
    await close();
  });

  it("lets readers call the API from the explorer", async () => {
    const { page, go, complaints, close } = await open();
    await go("/docs/reference/explorer#postUploadRequest");
    await page.getByLabel("API key").fill(app.owner.test);
    await send(page, /^200 OK/);
    const { fileId } = JSON.parse(await page.getByRole("region", { name: "Answer" }).innerText());
    await page.getByLabel("Endpoint").selectOption("postUploadComplete");
    await page.getByLabel("Body (JSON)").fill(JSON.stringify({ fileId }));
    complaints.length = 0;
    await send(page, /^422 /);
    assert.match(await page.getByRole("region", { name: "Answer" }).innerText(), /"FILE_NOT_IN_STORAGE"/);
    const command = await page.getByRole("region", { name: "Command" }).innerText();
    assert.ok(command.includes(fileId) && !command.includes(app.owner.test));
    await page.getByLabel("Endpoint").selectOption("getFiles");
    await page.getByLabel("limit (optional)").fill("1");
    await send(page, /^200 OK/);
    await close();
  });
});

async function send(page: Page, expected: RegExp): Promise<void> {
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("status").filter({ hasText: expected }).waitFor();
}
