// Takes a picture of every page and state of the site at five widths, by day and by night, to be looked at:
//   npx node packages/site/test/picture-pages.ts <folder> [word of a name]
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startBrowser } from "../../server/test/support/browser.ts";
import { startApp } from "../../server/test/support/start-app.ts";
import { claimInstallation } from "./support/claim.ts";

const [folder = "pictures", word = ""] = process.argv.slice(2);
const widths = [390, 820, 1024, 1440, 1920];
const schemes = ["light", "dark"] as const;

interface Shot {
  path: string;
  /** What brings the page into its state. */
  act?: (page: Page) => Promise<unknown>;
  isFull?: boolean;
}

const png = {
  name: "harbour.txt",
  mimeType: "text/plain",
  buffer: Buffer.from("Ships come and go.\n".repeat(40)),
};
const searchFor = (query: string) => async (page: Page) => {
  await page.keyboard.press("/");
  await page.keyboard.type(query);
  await page.locator(".palette-status:not(:empty)").waitFor();
};

/** Examples start when they come into view. */
const walkThrough = async (page: Page) => {
  for (const demo of await page.locator("[data-demo]").all()) {
    await demo.scrollIntoViewIfNeeded();
    await demo.locator("> *").first().waitFor({ state: "attached" });
  }
};

const shots: Record<string, Shot> = {
  welcome: { path: "/", isFull: true },
  "welcome-uploaded": {
    path: "/",
    act: async (page) => {
      await page.locator("#welcome-file").setInputFiles(png);
      await page.locator(".event").waitFor();
    },
  },
  "docs-home": { path: "/docs", isFull: true },
  "quick-start": { path: "/docs/quick-start", isFull: true },
  guide: { path: "/docs/guides/next" },
  table: { path: "/docs/configuration" },
  "api-reference": { path: "/docs/reference/api/uploads" },
  "api-try": {
    path: "/docs/reference/api/uploads",
    act: async (page) => {
      await page
        .getByRole("button", { name: /^Try it/ })
        .first()
        .click();
    },
  },
  explorer: { path: "/docs/reference/explorer", isFull: true },
  search: { path: "/docs", act: searchFor("presigned") },
  "search-empty": { path: "/docs", act: searchFor("qqqzzzxx") },
  "search-page": { path: "/docs/search?q=webhook" },
  menu: {
    path: "/docs/guides/next",
    act: async (page) => {
      const summary = page.locator(".pages summary");
      if (await summary.isVisible()) await summary.click();
    },
  },
  missing: { path: "/nowhere" },
  "link-unknown": { path: "/form/upg_unknown" },
  components: { path: "/components", act: walkThrough, isFull: true },
  component: { path: "/components/upload-dropzone", isFull: true },
};

await mkdir(folder, { recursive: true });
const [app, browser] = await Promise.all([startApp({ database: "sqlite" }), startBrowser()]);
try {
  async function take(name: string, { path, act, isFull = false }: Shot): Promise<void> {
    for (const colorScheme of schemes) {
      const context = await browser.newContext({ colorScheme, reducedMotion: "reduce" });
      context.setDefaultTimeout(120_000);
      for (const width of widths) {
        const page = await context.newPage();
        await page.setViewportSize({ width, height: width < 800 ? 844 : 900 });
        await page.goto(app.url + path, { waitUntil: "networkidle" });
        await act?.(page);
        await page.screenshot({
          path: join(folder, `${name}-${width}-${colorScheme}.png`),
          fullPage: isFull,
        });
        await page.close();
      }
      await context.close();
    }
    process.stdout.write(`${name}\n`);
  }
  if ("unclaimed".includes(word)) await take("welcome-unclaimed", { path: "/" });
  await claimInstallation(app);
  const body = {
    routeSlug: "default",
    maxFiles: 99,
    maxFileSize: 1_000,
    allowedTypes: ["text/*", "image/png"],
  };
  const { token } = (await app.call("POST", "upload/grants", { key: app.owner.live, body })).body.grant;
  const links: Record<string, Shot> = {
    link: { path: `/form/${token}` },
    "link-refused": {
      path: `/form/${token}`,
      act: async (page) => {
        await page.locator("#upload-files").setInputFiles([{ ...png, buffer: Buffer.alloc(2_000) }, png]);
        await page.locator('[data-state="done"]').waitFor();
      },
    },
  };
  for (const [name, shot] of Object.entries({ ...shots, ...links }))
    if (name.includes(word)) await take(name, shot);
} finally {
  await browser.close();
  await app.close();
}
