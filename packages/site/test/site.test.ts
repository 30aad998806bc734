import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, BrowserContextOptions, Page, Response } from "playwright-core";
import { findBarriers } from "../../../test/support/axe.ts";
import { isQuickRun, slowTest } from "../../../test/support/quick-run.ts";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { claimInstallation } from "./support/claim.ts";

const ownWeightMaxBytes = 40 * 1024;
const fontsMaxBytes = 60 * 1024;
/** One of each kind: code, tables, a generated page, the search, the explorer; two of them in `npm test`. */
const kinds = [
  "/",
  "/docs/quick-start",
  "/docs",
  "/docs/concepts/quotas",
  "/docs/reference/api/files",
  "/docs/reference/sdk/webhooks",
  "/docs/search?q=webhook",
  "/docs/reference/explorer",
].slice(0, isQuickRun ? 2 : undefined);

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
    const pages = [...seen.keys()].filter((path) => /^\/docs\/(?!images\/|search$)/.test(path));
    assert.ok(pages.length > 50, `${pages.length} pages`);
    const map = await (await fetch(`${app.url}/llms.txt`)).text();
    for (const path of pages) {
      assert.ok(map.includes(`${path}.md)`), `llms.txt lacks ${path}`);
      assert.match(await (await fetch(`${app.url}${path}.md`)).text(), /^# /, `${path}.md`);
    }
  });

  it("may be found by search engines, the dashboard's sign-in page excepted", async () => {
    const robots = await fetch(`${app.url}/robots.txt`);
    assert.equal(robots.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(await robots.text(), "User-agent: *\nDisallow: /api/\n");
    assert.equal((await fetch(`${app.url}/docs`)).headers.get("x-robots-tag"), null);
    assert.equal((await fetch(`${app.url}/dashboard`)).headers.get("x-robots-tag"), "noindex");
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

  it("keeps long words inside of tables and pages", async () => {
    const { page, go, close } = await open({ viewport: { width: 390, height: 800 } });
    const wide =
      "[...document.querySelectorAll('.table')].filter((one) => one.scrollWidth > one.clientWidth)";
    for (const path of ["/docs/compatibility", "/docs/metrics"]) {
      await go(path);
      assert.equal(await page.evaluate(`${wide}.length`), 0, path);
    }
    await go(`/docs/search?q=${"x".repeat(190)}`);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
    await close();
  });

  it("has one list of pages in one place, which shows the whole ring of what has the focus", async () => {
    const { page, go, close } = await open({ viewport: { width: 1440, height: 900 } });
    const tops: (number | undefined)[] = [];
    for (const path of ["/docs", "/docs/quick-start"]) {
      await go(path);
      tops.push((await page.locator(".pages h2").first().boundingBox())?.y);
    }
    assert.equal(tops[0], tops[1]);
    for (const list of [".pages", ".outline"]) {
      await page.locator(`${list} a`).first().focus();
      await page.keyboard.press("Tab");
      const style = "getComputedStyle(document.activeElement)";
      const reach = await page.evaluate(
        `parseFloat(${style}.outlineWidth) + parseFloat(${style}.outlineOffset)`,
      );
      assert.equal(reach, 0, list);
    }
    await close();
  });

  it("weighs at most 40 KB on the wire for each page, besides fonts that are kept for a year", async () => {
    for (const path of ["/", "/docs", "/docs/reference/explorer"]) {
      const { go, responses, close } = await open();
      await go(path);
      const weigh = async (isCounted: (response: Response) => boolean) => {
        const counted = responses.filter((response) => isCounted(response));
        const sizes = await Promise.all(counted.map((response) => response.request().sizes()));
        return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
      };
      const isFont = (response: Response) => response.url().includes("/fonts/");
      const isDescription = (response: Response) => response.url().endsWith("/openapi.json");
      const own = await weigh((response) => !isFont(response) && !isDescription(response));
      assert.ok(own > 1024 && own <= ownWeightMaxBytes, `${path}: ${own} bytes`);
      const fonts = await weigh(isFont);
      assert.ok(fonts > 0 && fonts <= fontsMaxBytes, `${path}: ${fonts} bytes of fonts`);
      for (const response of responses.filter(isFont))
        assert.match(response.headers()["cache-control"] ?? "", /immutable/);
      await close();
    }
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

  slowTest("searches by keyboard: through the text, through the hits and back", async () => {
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
    await page.keyboard.press("ArrowUp");
    assert.equal(await focused(), "input");
    await page.keyboard.press("Escape");
    assert.equal(await hits.first().isVisible(), false);
    await close();
  });

  slowTest("keeps the hit that is chosen when a later answer comes", async () => {
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

  slowTest("shows on a phone what there is to copy, and never over the code", async () => {
    const viewport = { width: 390, height: 800 };
    const { page, go, close } = await open({ viewport, hasTouch: true, isMobile: true });
    await go("/docs/quick-start");
    const covered =
      await page.evaluate(`[...document.querySelectorAll(".code")].filter((code) => code.offsetParent !== null).filter((code) => {
      const [bar, text] = [code.querySelector(".copy"), code.querySelector("pre")].map((part) => part.getBoundingClientRect());
      return bar.width === 0 || bar.bottom > text.top;
    }).length`);
    assert.equal(covered, 0);
    await page.getByRole("link", { name: "Search docs" }).click();
    await page.getByRole("dialog").getByLabel("Search the docs").fill("webhook");
    await page.locator(".results a").nth(6).waitFor();
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 390);
    await close();
  });

  it("says what search did not find, and finds guides before tables of measurements", async () => {
    const { page, go, close } = await open();
    await go("/docs");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("qqqzzzxx");
    await page.getByText("No results for “qqqzzzxx”").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").isVisible(), false);
    const search = async (query: string) =>
      (await app.call("GET", `/docs/search.json?q=${encodeURIComponent(query)}`)).body.results.map(
        ({ path }: { path: string }): string => path,
      );
    for (const query of ["presigned", "upload rate per second"]) {
      const paths: string[] = await search(query);
      assert.ok(paths.length > 0 && !paths.some((path) => /^(?:performance|capacity)$/.test(path)));
    }
    assert.match((await search("presigned"))[0], /^(?:guides|concepts)\/|^quick-start$/);
    await close();
  });

  slowTest("keeps the chosen tab from page to page, by keyboard", async () => {
    const { page, go, close } = await open();
    await go("/docs");
    await page.getByRole("tab", { name: "Next.js" }).focus();
    await page.keyboard.press("ArrowRight");
    const chosen = page.getByRole("tab", { selected: true, name: "SvelteKit" });
    assert.equal(await chosen.count(), 1);
    assert.ok(await page.getByText("It detects SvelteKit").isVisible());
    assert.equal(await page.getByText("It detects Next.js").isVisible(), false);
    await go("/docs/quick-start");
    assert.ok((await chosen.count()) > 0);
    await go("/docs");
    assert.equal(await chosen.count(), 1);
    await close();
  });

  slowTest("marks in the outline where the reader is", async () => {
    const { page, go, close } = await open({ viewport: { width: 1440, height: 800 } });
    await go("/docs/configuration");
    const links = page.locator(".outline a");
    await links.nth(1).press("Enter");
    await page.locator(".outline a[aria-current]").nth(0).waitFor();
    const marked = await page.locator(".outline a[aria-current]").allInnerTexts();
    assert.deepEqual(marked, [await links.nth(1).innerText()]);
    await close();
  });

  it("answers a browser's wrong URL with a page, and a program's with JSON", async () => {
    const { page, complaints, close } = await open();
    for (const path of ["/nowhere", "/docs/nowhere", "/f/nothing/at/all.png", "/components/nowhere"]) {
      const response = await page.goto(app.url + path);
      assert.equal(response?.status(), 404, path);
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      assert.match(response?.headers()["vary"] ?? "", /accept/i);
      const { body } = await app.call("GET", path);
      assert.equal(body.error.code, "NOT_FOUND", path);
    }
    assert.deepEqual(await findBarriers(page), []);
    const api = await page.goto(`${app.url}/api/v1/nowhere`);
    assert.match(api?.headers()["content-type"] ?? "", /json/);
    assert.deepEqual(
      complaints.filter((text) => !text.includes("404")),
      [],
    );
    await close();
  });

  it("lets a visitor of a claimed installation upload by keyboard alone, and shows the event", async () => {
    const { page, go, complaints, close } = await open();
    await go("/");
    await page.getByText("Claim this installation").waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await claimInstallation(app);
    // Listened for early: the browser is told to hand choosers over, which takes a moment.
    const choosing = page.waitForEvent("filechooser");
    await page.reload();
    const input = page.locator("#welcome-file");
    await input.focus();
    await page.keyboard.press("Enter");
    const buffer = Buffer.from("Ahoy");
    await (await choosing).setFiles({ name: "page.html", mimeType: "text/html", buffer });
    await page.getByRole("status").filter({ hasText: "The file must be an image, video" }).waitFor();
    complaints.length = 0;
    await page.locator("#welcome-file").setInputFiles({ name: "ahoy.txt", mimeType: "text/plain", buffer });
    await page.getByRole("region", { name: "Event" }).waitFor();
    assert.match(await page.getByRole("region", { name: "Event" }).innerText(), /"name": "ahoy.txt"/);
    await page.setViewportSize({ width: 1024, height: 800 });
    const caption = "document.querySelector('.event figcaption span')";
    assert.equal(await page.evaluate(`${caption}.scrollWidth - ${caption}.clientWidth`), 0);
    const url = await page.locator(".copyline a").getAttribute("href");
    assert.equal(await (await fetch(url ?? "")).text(), "Ahoy");
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
    await close();
  });

  slowTest("sends a call from beside its endpoint in the reference", async () => {
    const { page, go, close } = await open({ viewport: { width: 1440, height: 900 } });
    await go("/docs/reference/api/usage");
    const button = page.getByRole("button", { name: /^Try it/ }).first();
    await button.press("Enter");
    await page.keyboard.type(app.owner.test);
    await page.keyboard.press("Enter");
    await page
      .getByRole("status")
      .filter({ hasText: /^200 OK/ })
      .waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await close();
  });

  it("lets readers call the API from the explorer", async () => {
    const { page, go, complaints, close } = await open();
    await go("/docs/reference/explorer#postUploadRequest");
    assert.equal(await page.getByText("Stop", { exact: true }).isVisible(), false);
    await page.getByLabel("API key").fill(app.owner.test);
    await send(page, /^200 OK/);
    const { fileId } = JSON.parse(await page.getByRole("region", { name: "Response" }).innerText());
    await page.getByLabel("Endpoint").selectOption("postUploadComplete");
    await page.getByLabel("Body (JSON)").fill(JSON.stringify({ fileId }));
    complaints.length = 0;
    await send(page, /^422 /);
    assert.match(await page.getByRole("region", { name: "Response" }).innerText(), /"FILE_NOT_IN_STORAGE"/);
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
