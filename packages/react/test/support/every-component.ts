import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { startBrowser } from "../../../server/test/support/browser.ts";
import { type Category, catalogue } from "../../src/catalogue/index.ts";
import { driveExample } from "./drive.ts";
import { startSite, type TestSite } from "./start-site.ts";

/** Drives every component of a category through everything that uploads can go through. */
export function everyComponentOf(wanted: Category): void {
  describe(`${wanted} components`, () => {
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
      if (category !== wanted) continue;
      it(`${name} chooses, drops, pastes, cancels, fails, retries and finishes`, async () => {
        await driveExample(browser, site, slug);
      });
    }
  });
}
