import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { findBarriers } from "../../../../test/support/axe.ts";
import { startBrowser } from "../../../server/test/support/browser.ts";
import { type Category, catalogue } from "../../src/catalogue/index.ts";
import { expectSoon } from "./expect-soon.ts";
import { png, text } from "./files.ts";
import { openExample } from "./open-example.ts";
import { startSite, type TestSite } from "./start-site.ts";

const longName = `${"a-name-that-does-not-end-".repeat(6)}.png`;

/** What runs out of sight sideways; lines of a text that is shown as it is may. */
const scrolledSideways = `[...document.querySelectorAll("[data-us-root], [data-us-root] *")]
  .filter((element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
  .filter((element) => element.localName !== "pre" && element.scrollWidth > element.clientWidth)
  .map((element) => element.className + ": " + element.scrollWidth + " px in " + element.clientWidth)`;

/** Opens components of these categories with every kind of file in them, in both schemes and directions. */
export function accessibleComponentsOf(...categories: Category[]): void {
  describe(`barriers in ${categories.join(" and ")} components`, () => {
    let browser: Browser;
    let site: TestSite;
    before(async () => {
      [browser, site] = await Promise.all([startBrowser(), startSite()]);
    });
    after(async () => {
      await browser?.close();
      await site?.stop();
    });
    for (const { name, slug, category } of catalogue) {
      if (!categories.includes(category)) continue;
      it(`${name} has none, in light and dark, on a phone, from right to left`, async () => {
        await examine(browser, site, slug);
      });
    }
  });
}

async function examine(browser: Browser, site: TestSite, slug: string): Promise<void> {
  const viewport = { width: 390, height: 844 };
  const calm = { viewport, reducedMotion: "reduce" as const };
  const example = await openExample(browser, site, slug, { ...calm, colorScheme: "light", direction: "rtl" });
  const { page } = example;
  assert.deepEqual(await findBarriers(page), [], "empty");

  const opener = page.getByRole("button", { name: "Add photos" });
  if (slug === "upload-modal") await opener.click();
  site.refuseOnce.add("refused.png");
  await example.choose(png("refused.png"));
  await example.choose(png(longName));
  await example.drop(text("notes.txt"));
  await expectSoon(() => example.status.textContent(), /added|uploaded|failed|Uploading/);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await findBarriers(page), [], colorScheme);
  }
  assert.deepEqual(await page.evaluate(scrolledSideways), [], "wider than the room it has");
  const widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";
  const [scrolled, shown] = (await page.evaluate(widths)) as [number, number];
  assert.ok(scrolled <= shown, `${scrolled} px wide on a screen of ${shown}`);
  await example.close();
}
