import type { Browser } from "playwright-core";
import { afterAllFiles } from "../../../../test/support/after-all-files.ts";
import { startBrowser } from "./browser.ts";

const browsers = new Map<string, Promise<Browser>>();

/** One for all tests of this process that want these flags. Whoever uses it closes contexts, not the browser. */
export function getBrowser(flags: string[] = []): Promise<Browser> {
  const key = flags.join(" ");
  const browser = browsers.get(key) ?? startBrowser(flags);
  browsers.set(key, browser);
  return browser;
}

afterAllFiles(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});
