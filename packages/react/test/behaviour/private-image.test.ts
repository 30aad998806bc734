import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { createUpstow } from "@upstow/sdk";
import type { Page, Route } from "playwright-core";
import { findBarriers } from "../../../../test/support/axe.ts";
import { getBrowser } from "../../../server/test/support/shared-browser.ts";
import { catalogue } from "../../src/catalogue/index.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { picture } from "../support/files.ts";
import { type OpenOptions, openExample } from "../support/open-example.ts";
import { startSite, type TestSite } from "../support/start-site.ts";

const { usage = "" } = catalogue.find(({ slug }) => slug === "private-image") ?? {};
const exampleId = /fileKey="([^"]+)"/.exec(usage)?.[1] ?? "";

describe("private files in pages", () => {
  let site: TestSite;
  let upstow: ReturnType<typeof createUpstow>;
  before(async () => {
    site = await startSite();
    upstow = createUpstow({ apiKey: site.service.apiKey, baseUrl: site.service.app.url });
  });
  after(() => site.stop());

  beforeEach(async () => {
    const { reading } = site;
    reading.forbidden.clear();
    reading.send = "redirect";
    reading.before = async () => null;
    const [first, second] = await Promise.all([store("größe 1.png", 60, 40), store("b.png", 30, 20)]);
    reading.files = new Map([
      ["first", first.key],
      ["second", second.key],
      [exampleId, first.id],
    ]);
    reading.asked.length = 0;
  });

  function store(name: string, width: number, height: number) {
    const file = new File([new Uint8Array(picture(0, width, height))], name, { type: "image/png" });
    return upstow.upload(file, { access: "private" });
  }
  const idOf = (name: string) => site.reading.files.get(name)?.split("/")[2] ?? "";
  const forbid = (name: string) => site.reading.forbidden.add(idOf(name));

  /** A page that lasts until the end of the test. */
  async function open(slug: string, options: OpenOptions = {}) {
    const example = await openExample(await getBrowser(), site, slug, options);
    return { page: example.page, [Symbol.asyncDispose]: example.close };
  }

  /** Every image: what it is called, its state, and how wide it is by itself. */
  const showsImages = (page: Page, wanted: RegExp) =>
    expectSoon(
      () =>
        page.evaluate(`[...document.querySelectorAll("#root img")]
          .map((image) => [image.alt, image.dataset.state, image.naturalWidth].join(" ")).join(", ")`),
      wanted,
    );
  const sourcesOf = (page: Page) =>
    page.evaluate("[...document.images].map(({ src }) => src)") as Promise<string[]>;
  const hideTab = (page: Page, isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));`);
  /** What the page asked for before it has arrived then. */
  const roundTrip = (page: Page) => page.evaluate("fetch('/left').then(() => null)");
  const hasAsked = (times: number) =>
    expectSoon(async () => String(site.reading.asked.length), new RegExp(`^${times}$`));

  describe("PrivateImage", () => {
    it("shows the catalogue's example, without barriers", async () => {
      await using opened = await open("private-image");
      await showsImages(opened.page, /^The beach at dusk ready 60$/);
      assert.deepEqual(await findBarriers(opened.page), []);
    });

    it("asks once for each file, also in strict mode", async () => {
      await using opened = await open("private-images");
      await showsImages(opened.page, /^One ready 60, The same ready 60, Another ready 30$/);
      assert.deepEqual(site.reading.asked.sort(), ["first anonymous", "second anonymous"]);
      const [one = "", same] = await sourcesOf(opened.page);
      assert.ok(one.startsWith(`${site.service.app.url}/s/`));
      assert.equal(one, same, "the browser loads it once");
    });

    it("shows what the application sends itself", async () => {
      site.reading.send = "proxy";
      await using opened = await open("private-image");
      await showsImages(opened.page, /^The beach at dusk ready 60$/);
      const [source = ""] = await sourcesOf(opened.page);
      assert.ok(source.startsWith(`${site.url}/api/files/`), source);
    });

    it("keeps what has loaded when its link expires", async () => {
      await using opened = await open("private-images", { clock: "running" });
      const { page } = opened;
      await showsImages(page, /^One ready 60, The same ready 60, Another ready 30$/);
      const sources = await sourcesOf(page);
      await page.clock.fastForward(3_600_000);
      await hideTab(page, true);
      await hideTab(page, false);
      await page.clock.fastForward(3_600_000);
      await roundTrip(page);
      assert.deepEqual(await sourcesOf(page), sources);
      assert.equal(site.reading.asked.length, 2);
    });

    it("asks only near the screen if it is lazy", async () => {
      await using opened = await open("private-lazy");
      const { page } = opened;
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))");
      await roundTrip(page);
      assert.deepEqual(site.reading.asked, []);
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      await showsImages(page, /^Far below ready 60$/);
      assert.deepEqual(site.reading.asked, ["first anonymous"]);
    });

    it("says that a forbidden file is not available, and never asks again", async () => {
      site.reading.forbidden.add(site.reading.files.get(exampleId) ?? "");
      await using opened = await open("private-image", { clock: "running" });
      const { page } = opened;
      const fallback = page.getByRole("img", { name: "The beach at dusk: Image not available" });
      await fallback.waitFor();
      assert.deepEqual(await findBarriers(page), []);
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await findBarriers(page, { onlyColours: true }), []);
      const { width, height } = (await fallback.boundingBox()) ?? {};
      assert.deepEqual([width, height], [450, 300]);
      await page.clock.fastForward(3_600_000);
      await hideTab(page, true);
      await hideTab(page, false);
      await page.clock.fastForward(3_600_000);
      await roundTrip(page);
      assert.deepEqual(site.reading.asked, [`${exampleId} anonymous`]);
    });

    it("shows the application's fallback, and reports once", async () => {
      forbid("first");
      await using opened = await open("private-fallback");
      await opened.page.getByText("Ask Ann for it").waitFor();
      await expectSoon(() => opened.page.locator("output").textContent(), /^File not found\.$/);
    });

    it("tries one more link for a file that is gone, which only the service knows", async () => {
      await upstow.files.delete(idOf("first"));
      await using opened = await open("private-fallback");
      await opened.page.getByText("Ask Ann for it").waitFor();
      await expectSoon(
        () => opened.page.locator("output").textContent(),
        /^The image could not be loaded\.$/,
      );
      assert.equal(site.reading.asked.length, 2);
    });
  });

  describe("usePrivateUrl", () => {
    const linkOf = (page: Page) => page.locator("[data-status=ready] a").getAttribute("href");
    const hasStatus = (page: Page, status: string) => page.waitForSelector(`[data-status=${status}]`);
    const hasNewLink = (page: Page, old: string | null) =>
      expectSoon(async () => String((await linkOf(page)) !== old), /true/);

    it("sends the given headers, and renews shortly before the link expires", async () => {
      await using opened = await open("private-link", { clock: "running" });
      const { page } = opened;
      const link = await linkOf(page);
      await page.clock.fastForward(15_000);
      await roundTrip(page);
      assert.deepEqual(site.reading.asked, ["first Bearer ann"]);
      await page.clock.fastForward(40_000);
      await hasNewLink(page, link);
      assert.deepEqual(site.reading.asked, ["first Bearer ann", "first Bearer ann"]);
    });

    it("leaves a hidden tab alone until it is seen again", async () => {
      await using opened = await open("private-link", { clock: "running" });
      const { page } = opened;
      const link = await linkOf(page);
      await hideTab(page, true);
      await page.clock.fastForward(3_600_000);
      await roundTrip(page);
      assert.equal(site.reading.asked.length, 1);
      await hideTab(page, false);
      await hasNewLink(page, link);
      assert.equal(site.reading.asked.length, 2);
    });

    it("waits out a backend that fails, and says so if it lasts", async () => {
      site.reading.before = async () => 503;
      await using opened = await open("private-link", { clock: "running" });
      const { page } = opened;
      const status = async () => {
        await page.clock.fastForward(5_000);
        return page.locator("[data-status]").getAttribute("data-status");
      };
      await expectSoon(status, /^failed$/);
      assert.ok(site.reading.asked.length > 2, "not at the first failure");
      site.reading.before = async () => null;
      await expectSoon(status, /^ready$/);
    });

    it("keeps the link while a renewal fails", async () => {
      await using opened = await open("private-link", { clock: "running" });
      const { page } = opened;
      const link = await linkOf(page);
      site.reading.before = async () => 503;
      await expectSoon(async () => {
        await page.clock.fastForward(60_000);
        return String(site.reading.asked.length > 4);
      }, /true/);
      assert.equal(await linkOf(page), link);
    });

    it("asks again for a refused file only when told to", async () => {
      forbid("first");
      await using opened = await open("private-link");
      const { page } = opened;
      await hasStatus(page, "failed");
      await page.getByText("NOT_FOUND").waitFor();
      site.reading.forbidden.clear();
      await page.getByRole("button", { name: "Renew" }).click();
      await hasStatus(page, "ready");
    });

    it("asks no second time at an address that is no read handler's", async () => {
      site.reading.before = async () => 200;
      await using opened = await open("private-link", { clock: "running" });
      await hasStatus(opened.page, "failed");
      await opened.page.getByText("UNEXPECTED_ANSWER").waitFor();
      await opened.page.clock.fastForward(3_600_000);
      await roundTrip(opened.page);
      assert.equal(site.reading.asked.length, 1);
    });

    it("gives up its request when nobody needs it any more", async () => {
      let release = () => {};
      const held = new Promise<null>((resolve) => {
        release = () => resolve(null);
      });
      site.reading.before = () => held;
      await using opened = await open("private-link");
      const { page } = opened;
      await hasAsked(1);
      const [request] = await Promise.all([
        page.waitForEvent("requestfailed"),
        page.getByRole("button", { name: "Toggle" }).click(),
      ]);
      assert.match(request.url(), /\/api\/files\/first$/);
      release();
    });
  });

  // Stops the service's clock, so it comes last.
  it("goes on showing with PrivateImage after a link expired that fails in a plain image", async () => {
    await using opened = await open("private-lazy");
    const { page } = opened;
    const held: Route[] = [];
    let isHeld = true;
    await page.route(/\/s\//, (route) => (isHeld ? void held.push(route) : route.continue()));
    const [answer] = await Promise.all([
      page.waitForResponse(/\/api\/files\/first$/),
      page.evaluate("scrollTo(0, document.body.scrollHeight)"),
    ]);
    const { url, expiresAt } = (await answer.json()) as { url: string; expiresAt: string };
    await expectSoon(async () => String(held.length), /^1$/);
    const plain = page.evaluate(`new Promise((resolve) => {
      const image = new Image();
      image.onload = () => resolve("loaded");
      image.onerror = () => resolve("failed");
      image.src = ${JSON.stringify(`${url}?plain`)};
    })`);
    await expectSoon(async () => String(held.length), /^2$/);

    site.service.app.clock.setTime(Date.parse(expiresAt) + 1);
    assert.equal((await fetch(url)).status, 403);
    isHeld = false;
    await Promise.all(held.map((route) => route.continue()));
    assert.equal(await plain, "failed");
    await showsImages(page, /^Far below ready 60$/);
    assert.equal(site.reading.asked.length, 2);
  });
});
