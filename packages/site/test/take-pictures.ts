// Takes the pictures of the README from the running product, and makes them small:
//   npx node packages/site/test/take-pictures.ts
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { startBrowser } from "../../server/test/support/browser.ts";
import { createSessionToken } from "../../server/test/support/console-client.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { uploadFile } from "../../server/test/support/upload.ts";
import { root } from "./support/doc-files.ts";

const folder = join(root, "docs/images");
const view = {
  viewport: { width: 1200, height: 720 },
  deviceScaleFactor: 1.5,
  colorScheme: "light" as const,
};

const names =
  "harbour.jpg,lighthouse.jpg,dunes.jpg,ferry.jpg,tide-table.pdf,gulls.jpg,regatta.mp4,pier.jpg".split(",");
const types: Record<string, string> = {
  jpg: "image/jpeg",
  webp: "image/webp",
  pdf: "application/pdf",
  mp4: "video/mp4",
};

/** Pictures that differ from each other, so that a list of them looks like one. */
function paint(i: number): Promise<Buffer> {
  const hue = (i * 47) % 360;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="600"><linearGradient id="g" x2="0.3" y2="1"><stop stop-color="hsl(${hue} 70% 78%)"/><stop offset="1" stop-color="hsl(${hue + 50} 60% 45%)"/></linearGradient><rect width="900" height="600" fill="url(#g)"/><circle cx="${200 + i * 70}" cy="170" r="70" fill="#fff8"/><path d="M0 420q150-${60 + i * 9} 300 0t300 0 300 0v180H0z" fill="hsl(${hue + 40} 50% 30% / .7)"/></svg>`;
  return sharp(Buffer.from(svg)).jpeg({ quality: 80 }).toBuffer();
}

async function fill(app: TestApp, key: string): Promise<void> {
  for (const [i, name] of names.entries()) {
    const extension = name.split(".")[1] ?? "";
    const bytes = extension === "jpg" ? await paint(i) : Buffer.alloc(40_000 + i * 91_000, i);
    await uploadFile(app, bytes, {
      key,
      name,
      type: types[extension] ?? "text/plain",
      metadata: { trip: "North Sea" },
    });
  }
}

async function save(page: Page, name: string, selector?: string): Promise<void> {
  const shot = selector === undefined ? await page.screenshot() : await page.locator(selector).screenshot();
  const { size, width } = await sharp(shot)
    .webp({ quality: 78, effort: 6 })
    .toFile(join(folder, `${name}.webp`));
  process.stdout.write(`docs/images/${name}.webp: ${width} px wide, ${Math.round(size / 1024)} KiB\n`);
}

async function takeDashboard(app: TestApp, browser: Browser): Promise<void> {
  await fill(app, app.owner.live);
  const context = await browser.newContext(view);
  const value = await createSessionToken(app, app.owner.accountId);
  await context.addCookies([
    { name: "upstow_session", value, url: app.url, httpOnly: true, sameSite: "Strict" },
  ]);
  const page = await context.newPage();
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("navigation").getByRole("link", { name: "Files", exact: true }).click();
  await page.getByText("Grid", { exact: true }).click();
  await page.getByText("harbour.jpg").first().waitFor();
  await page.waitForLoadState("networkidle");
  await save(page, "dashboard");
  await context.close();
}

async function takeComponent(app: TestApp, browser: Browser): Promise<void> {
  const page = await browser.newPage({ ...view, viewport: { width: 760, height: 800 } });
  await page.goto(`${app.url}/components/upload-dropzone`);
  await page.getByRole("button", { name: "Try it: UploadDropzone" }).click();
  await page.locator(".us-row[data-status=done]").first().waitFor();
  await save(page, "component", ".gallery-demo");
  await page.close();
}

await mkdir(folder, { recursive: true });
const [app, browser] = await Promise.all([startApp({ database: "sqlite" }), startBrowser()]);
try {
  await takeDashboard(app, browser);
  await takeComponent(app, browser);
} finally {
  await browser.close();
  await app.close();
}
