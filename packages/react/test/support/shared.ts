import { after } from "node:test";
import type { Browser } from "playwright-core";
import { startBrowser } from "../../../server/test/support/browser.ts";
import { startSite, type TestSite } from "./start-site.ts";

const browsers = new Map<string, Promise<Browser>>();
const sites = new Map<string, Promise<TestSite>>();

/** Started once for all tests of this process that want the same one. */
export function getBrowser(flags: string[] = []): Promise<Browser> {
  return getOrStart(browsers, flags, startBrowser);
}

export function getSite(options: Parameters<typeof startSite>[0] = {}): Promise<TestSite> {
  return getOrStart(sites, options, startSite);
}

function getOrStart<O, T>(started: Map<string, Promise<T>>, options: O, start: (options: O) => Promise<T>) {
  const key = JSON.stringify(options);
  const found = started.get(key) ?? start(options);
  started.set(key, found);
  return found;
}

after(async () => {
  for (const browser of browsers.values()) await (await browser).close();
  for (const site of sites.values()) await (await site).stop();
});
