import { it } from "node:test";
import { getBrowser } from "../../../server/test/support/shared-browser.ts";
import { expectSoon } from "./expect-soon.ts";
import { type OpenExample, type OpenOptions, openExample } from "./open-example.ts";
import { getSite } from "./shared-site.ts";
import type { TestSite } from "./start-site.ts";

export interface Stage extends OpenExample {
  site: TestSite;
  /** What the example wrote to the console. */
  logged: string[];
  button(name: string | RegExp): ReturnType<OpenExample["page"]["getByRole"]>;
  says(text: RegExp): Promise<void>;
  isStored(name: string): Promise<void>;
  css(selector: string, property: string): Promise<string>;
}

/** Says how a component behaves as no other does, in a browser with these flags and against a service like this. */
export function behaviours(browserFlags: string[] = [], service: Parameters<typeof getSite>[0] = {}) {
  return (slug: string, title: string, act: (stage: Stage) => Promise<void>, options: OpenOptions = {}) => {
    it(`${slug} ${title}`, async () => {
      const [browser, site] = await Promise.all([getBrowser(browserFlags), getSite(service)]);
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
