// Takes a picture of every page and state of the site at five widths, by day and by night, to be looked at:
//   npx node packages/site/test/picture-pages.ts <folder> [word of a name]
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { catalogue } from "@upstow/react/catalogue";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { startBrowser } from "../../server/test/support/browser.ts";
import { startApp } from "../../server/test/support/start-app.ts";
import { claimInstallation } from "./support/claim.ts";

const [folder = "pictures", word = ""] = process.argv.slice(2);
const widths = [390, 820, 1024, 1440, 1920];
const schemes = ["light", "dark"] as const;

interface Shot {
  path: string | (() => Promise<string>);
  /** What brings the page into its state. */
  act?: (page: Page) => Promise<unknown>;
  isFull?: boolean;
  hasNoScript?: boolean;
}

const text = {
  name: "harbour.txt",
  mimeType: "text/plain",
  buffer: Buffer.from("Ships come and go.\n".repeat(40)),
};
const scene = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><path fill="#fdba74" d="M0 0h640v360H0z"/><circle cx="200" cy="170" r="50" fill="#fffbeb"/><path fill="#1e3a8a" d="M0 210h640v150H0z"/></svg>`;
const picture = {
  name: "a-rather-long-name-for-a-picture-of-the-harbour-in-november.png",
  mimeType: "image/png",
  buffer: await sharp(Buffer.from(scene)).png().toBuffer(),
};

type Files = (typeof text)[];
const upload = (files: Files, until: string) => async (page: Page) => {
  await page.locator("#welcome-file, #upload-files").setInputFiles(files);
  await page.locator(until).last().waitFor();
};
/** The bytes of a file are on their way until the picture is taken. */
const holdUp = (act: NonNullable<Shot["act"]>) => async (page: Page) => {
  await page.route("**/*", (route) =>
    /^(?:PUT|PATCH)$/.test(route.request().method()) ? undefined : route.continue(),
  );
  await act(page);
};
const searchFor = (query: string) => async (page: Page) => {
  await page.keyboard.press("/");
  await page.keyboard.type(query);
  await page.locator(".palette-status:not(:empty)").waitFor();
};
const press = (name: RegExp) => (page: Page) => page.getByRole("button", { name }).first().click();
const openTab = (name: string) => (page: Page) => page.getByRole("tab", { name, exact: true }).click();

/** Examples start when they come into view. */
const walkThrough = async (page: Page) => {
  for (const demo of await page.locator("[data-demo]").all()) {
    await demo.scrollIntoViewIfNeeded();
    await demo.locator("> *").first().waitFor({ state: "attached" });
  }
};
const tryAll = async (page: Page) => {
  await walkThrough(page);
  await page.evaluate("for (const button of document.querySelectorAll('[data-samples]')) button.click()");
  await page.waitForTimeout(11_000);
  await walkThrough(page);
};

const [app, browser] = await Promise.all([startApp({ database: "sqlite" }), startBrowser()]);
const apiKey = app.owner.test;
const link = async (fields: object) => {
  const body = { routeSlug: "default", ...fields };
  const { grant } = (await app.call("POST", "upload/grants", { key: app.owner.live, body })).body;
  return `/form/${grant.token}`;
};
const wide = { maxFiles: 99, maxFileSize: 10_000, allowedTypes: ["text/*", "image/png"] };
const refused = [
  { ...text, buffer: Buffer.alloc(20_000) },
  { ...text, mimeType: "application/zip" },
  picture,
];

const unclaimed: Record<string, Shot> = {
  "welcome-unclaimed": { path: "/", isFull: true },
};
const shots: Record<string, Shot> = {
  welcome: { path: "/", isFull: true },
  "welcome-off": {
    path: "/",
    act: async (page) => {
      await page.route("**/welcome/state", (route) => route.fulfill({ json: { state: "off" } }));
      await page.reload();
    },
    isFull: true,
  },
  "welcome-uploaded": { path: "/", act: upload([text], ".event"), isFull: true },
  "welcome-image": { path: "/", act: upload([picture], ".event"), isFull: true },
  "welcome-uploading": {
    path: "/",
    act: holdUp(upload([picture], ".steps [data-done]")),
    isFull: true,
  },
  "welcome-empty-file": {
    path: "/",
    act: upload([{ ...text, buffer: Buffer.alloc(0) }], ".problem:not(:empty)"),
    isFull: true,
  },
  "welcome-refused": {
    path: "/",
    act: upload([{ ...text, mimeType: "text/html" }], ".problem:not(:empty)"),
    isFull: true,
  },
  "welcome-limited": {
    path: "/",
    act: async (page) => {
      await page.route("**/welcome/uploads", (route) => route.fulfill({ status: 429, json: {} }));
      await upload([text], ".problem:not(:empty)")(page);
    },
    isFull: true,
  },
  "docs-home": { path: "/docs", isFull: true },
  "quick-start": { path: "/docs/quick-start", isFull: true },
  guide: { path: "/docs/guides/next" },
  pictures: { path: "/docs/guides/images" },
  table: { path: "/docs/configuration" },
  errors: { path: "/docs/reference/errors" },
  "sdk-reference": { path: "/docs/reference/sdk/webhooks" },
  charts: { path: "/docs/performance" },
  changelog: { path: "/docs/changelog" },
  "api-reference": { path: "/docs/reference/api/uploads" },
  "api-try": { path: "/docs/reference/api/uploads", act: press(/^Try it/) },
  "api-response": {
    path: "/docs/reference/api/usage",
    act: async (page) => {
      await press(/^Try it/)(page);
      await page.keyboard.type(apiKey);
      await page.keyboard.press("Enter");
      await page.locator("[role=status]", { hasText: /^200/ }).waitFor();
    },
  },
  explorer: { path: "/docs/reference/explorer", isFull: true },
  "explorer-response": {
    path: "/docs/reference/explorer#getFiles",
    act: async (page) => {
      await page.getByLabel("API key").fill(apiKey);
      await press(/^Send$/)(page);
      await page.locator("[role=status]", { hasText: /^200/ }).waitFor();
    },
    isFull: true,
  },
  search: { path: "/docs", act: searchFor("presigned") },
  "search-start": { path: "/docs", act: (page) => page.keyboard.press("/") },
  "search-empty": { path: "/docs", act: searchFor("qqqzzzxx") },
  "search-page": { path: "/docs/search?q=webhook" },
  "search-page-empty": { path: "/docs/search?q=qqqzzzxx" },
  menu: {
    path: "/docs/guides/next",
    act: async (page) => {
      const summary = page.locator(".pages summary");
      if (await summary.isVisible()) await summary.click();
    },
  },
  "theme-switched": { path: "/docs/guides/next", act: press(/^Switch between light and dark$/) },
  missing: { path: "/nowhere" },
  link: { path: () => link(wide) },
  "link-one-file": { path: () => link({}) },
  "link-without-script": { path: () => link(wide), hasNoScript: true },
  "link-uploading": {
    path: () => link(wide),
    act: holdUp(upload([picture, text], ".sent li:nth-child(2)")),
  },
  "link-refused": {
    path: () => link(wide),
    act: upload([...refused, text], ".sent li:nth-child(4)[data-state=done]"),
  },
  "link-interrupted": {
    path: () => link(wide),
    act: async (page) => {
      await page.route("**/resumable", (route) => route.abort(), { times: 1 });
      await upload([text], ".sent button")(page);
    },
  },
  "link-done": {
    path: () => link({ maxFiles: 2 }),
    act: upload([text, text], "[role=status]:not(.visually-hidden)"),
  },
  "link-too-many": {
    path: () => link({ maxFiles: 2 }),
    act: upload([text, text, picture], "[role=status]:not(.visually-hidden)"),
  },
  "link-used-up": {
    path: () => link({}),
    act: async (page) => {
      await upload([text], "[role=status]:not(.visually-hidden)")(page);
      await page.reload();
    },
  },
  "link-expired": {
    path: async () => {
      const path = await link({ expiresIn: 60 });
      app.clock.advance(61_000);
      return path;
    },
  },
  "link-unknown": { path: "/form/upg_unknown" },
  components: { path: "/components", act: walkThrough, isFull: true },
  "components-tried": { path: "/components", act: tryAll, isFull: true },
  component: { path: "/components/upload-dropzone", isFull: true },
  "component-code": { path: "/components/upload-dropzone", act: openTab("Code") },
  ...Object.fromEntries(
    catalogue.map(({ slug }): [string, Shot] => [
      `component-${slug}`,
      {
        path: `/components/${slug}`,
        act: async (page) => {
          const button = page.locator("[data-samples]");
          if ((await button.count()) > 0) await button.click();
          await page.waitForTimeout(2_000);
        },
      },
    ]),
  ),
};

async function take(name: string, shot: Shot): Promise<void> {
  const { path, act, isFull = false, hasNoScript = false } = shot;
  for (const colorScheme of schemes) {
    const context = await browser.newContext({
      colorScheme,
      reducedMotion: "reduce",
      javaScriptEnabled: !hasNoScript,
    });
    context.setDefaultTimeout(120_000);
    const takeOne = async (width: number) => {
      const page = await context.newPage();
      await page.setViewportSize({ width, height: width < 800 ? 844 : 900 });
      await page.goto(app.url + (typeof path === "string" ? path : await path()), {
        waitUntil: "networkidle",
      });
      await act?.(page);
      // The header stays where the window is.
      if (isFull) await page.evaluate("scrollTo(0, 0)");
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: isFull });
      await page.close();
    };
    await Promise.all(widths.map(takeOne));
    await context.close();
  }
  process.stdout.write(`${name}\n`);
}

const takeAll = async (group: Record<string, Shot>) => {
  for (const [name, shot] of Object.entries(group))
    if (name.includes(word))
      await take(name, shot).catch((error: unknown) => {
        process.stderr.write(`${name}: ${error}\n`);
        process.exitCode = 1;
      });
};

await mkdir(folder, { recursive: true });
try {
  await takeAll(unclaimed);
  await claimInstallation(app);
  await takeAll(shots);
} finally {
  await browser.close();
  await app.close();
}
