import { after, before, it } from "node:test";
import type { Browser } from "playwright-core";
import { startBrowser } from "../../../server/test/support/browser.ts";
import { expectSoon } from "./expect-soon.ts";
import { type OpenExample, type OpenOptions, openExample } from "./open-example.ts";
import { startSite, type TestSite } from "./start-site.ts";

export interface Stage extends OpenExample {
  site: TestSite;
  /** What the example wrote to the console. */
  logged: string[];
  button(name: string | RegExp): ReturnType<OpenExample["page"]["getByRole"]>;
  says(text: RegExp): Promise<void>;
  isStored(name: string): Promise<void>;
  css(selector: string, property: string): Promise<string>;
}

/** Starts a site and a browser for a file of tests, and says how one behaves that no other component has. */
export function behaviours(browserFlags: string[] = [], service: Parameters<typeof startSite>[0] = {}) {
  let browser: Browser;
  let site: TestSite;
  before(async () => {
    [browser, site] = await Promise.all([startBrowser(browserFlags), startSite(service)]);
  });
  after(async () => {
    await browser?.close();
    await site?.stop();
  });

  return (slug: string, title: string, act: (stage: Stage) => Promise<void>, options: OpenOptions = {}) => {
    it(`${slug} ${title}`, async () => {
      const example = await openExample(browser, site, slug, options);
      const { page } = example;
      const logged: string[] = [];
      page.on("console", (message) => message.type() === "log" && logged.push(message.text()));
      site.completed.length = 0;
      try {
        await act({
          ...example,
          site,
          logged,
          button: (name) => page.getByRole("button", { name, exact: true }).first(),
          says: (text) => expectSoon(() => example.status.textContent(), text),
          isStored: (name) => expectSoon(async () => site.completed.join("\n"), new RegExp(`^${name}$`, "m")),
          css: (selector, property) =>
            page.evaluate(
              `getComputedStyle(document.querySelector("${selector}")).getPropertyValue("${property}")`,
            ),
        });
      } finally {
        site.storage.allow(Number.POSITIVE_INFINITY);
        await example.close();
      }
    });
  };
}
