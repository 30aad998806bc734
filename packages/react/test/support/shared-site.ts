import { afterAllFiles } from "../../../../test/support/after-all-files.ts";
import { startSite, type TestSite } from "./start-site.ts";

const sites = new Map<string, Promise<TestSite>>();

/** One for all tests of this process that want the same options. */
export function getSite(options: Parameters<typeof startSite>[0] = {}): Promise<TestSite> {
  const key = JSON.stringify(options);
  const site = sites.get(key) ?? startSite(options);
  sites.set(key, site);
  return site;
}

afterAllFiles(async () => {
  for (const site of sites.values()) await (await site).stop();
});
