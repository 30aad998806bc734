import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import type { Page } from "playwright-core";
import sharp, { type Region } from "sharp";
import { expectSoon } from "../../../react/test/support/expect-soon.ts";
import { startBrowser } from "../../../server/test/support/browser.ts";
import { startApp } from "../../../server/test/support/start-app.ts";

/** Where the pictures are kept, one for each component. */
export const lookFolder = new URL("../look/", import.meta.url);

const folder = fileURLToPath(new URL("../../", import.meta.url));
const widths = [390, 1280];
const schemes = ["light", "dark"] as const;
/** A third of what is on the screen; what is lower than this is cut off. */
const scale = 1 / 3;
const shotHeightPx = 150;
const paddingGrey = 0x88;
const padding = "#888";
const shotWidthsPx: Record<number, number> = { 390: 112, 1280: 176 };

export interface LookOptions {
  /** More style for the whole page, to see what a comparison makes of it. */
  css?: string;
  slugs?: string[];
}

export interface OpenGallery {
  /** Every component with four files uploaded, at both widths in both colour schemes, in one picture each. */
  takeLooks(options?: LookOptions): Promise<Map<string, Buffer>>;
  close(): Promise<void>;
}

/** The gallery page after files were dropped on all of its demos. */
export async function openGallery(): Promise<OpenGallery> {
  if (!existsSync(`${folder}dist/manifest.json`)) spawnSync(process.execPath, [`${folder}build.mjs`]);
  const [app, browser] = await Promise.all([startApp({ database: "sqlite" }), startBrowser()]);
  const page = await browser.newPage({
    viewport: { width: widths[0] ?? 390, height: 900 },
    reducedMotion: "reduce",
    bypassCSP: true,
  });
  page.setDefaultTimeout(100_000);
  const openedMs = Date.now();
  await page.clock.install({ time: openedMs });
  await page.goto(`${app.url}/components`);
  await uploadSamples(page, openedMs);
  return {
    takeLooks: (options = {}) => takeLooks(page, options),
    async close() {
      await browser.close();
      await app.close();
    },
  };
}

async function takeLooks(page: Page, { css = "", slugs }: LookOptions): Promise<Map<string, Buffer>> {
  // A stage cuts off what is higher than itself.
  const steady =
    "* { caret-color: transparent !important; } .gallery-demo { block-size: auto !important; min-block-size: var(--stage, 28rem); }";
  const style = await page.addStyleTag({ content: `${steady} ${css}` });
  const wanted = slugs ?? catalogue.map(({ slug }) => slug);
  const shots = new Map<string, Buffer[]>(wanted.map((slug) => [slug, []]));
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      // Once for all components; for a few, the whole page would take longer than pictures of theirs.
      const whole = slugs === undefined ? await takeShot(page) : null;
      for (const slug of wanted) shots.get(slug)?.push(await cutOut(page, whole, slug, width));
    }
  }
  await style.evaluate((element: unknown) => (element as { remove(): void }).remove());
  const looks = new Map<string, Buffer>();
  for (const [slug, all] of shots) looks.set(slug, await placeSideBySide(all));
  return looks;
}

/** The page's clock is moved by hand: uploads that last for seconds are over at once, and all end in one state. */
async function uploadSamples(page: Page, openedMs: number): Promise<void> {
  for (const { slug } of catalogue) {
    const demo = page.locator(`[data-demo=${slug}]`);
    await demo.scrollIntoViewIfNeeded();
    await demo.locator("[data-us-root], .us-ui, .us-image").first().waitFor({ state: "attached" });
  }
  await page.clock.pauseAt(openedMs + 3_600_000);
  await page.evaluate("for (const button of document.querySelectorAll('[data-samples]')) button.click()");
  const countOf = async (selector: string) => String(await page.locator(selector).count());
  const demos = await countOf("[data-samples]");
  await expectSoon(() => countOf("[data-demo][data-dropped]"), new RegExp(`^${demos}$`));
  const busy = ["uploading", "completing", "preparing", "queued"].map(
    (status) => `[data-demo] [data-status=${status}]`,
  );
  await expectSoon(async () => {
    await page.clock.runFor(1_000);
    return countOf([...busy, ".us-undo-wait"].join());
  }, /^0$/);
  // What changes a while after its end has changed then.
  await page.clock.runFor(10_000);
  await page.evaluate("for (const image of document.images) image.loading = 'eager'; scrollTo(0, 0)");
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode().catch(() => {})))");
}

/** As wide as the demo and as high as what is in it: how high the demo is depends on its neighbour. */
const boxOf = (slug: string) => `(() => {
  const demo = document.querySelector("[data-demo=${slug}]");
  const content = document.createRange();
  content.selectNodeContents(demo);
  const { x, width } = demo.getBoundingClientRect();
  const { y, height } = content.getBoundingClientRect();
  return { x, y: y + scrollY, width, height };
})()`;

/** Of the whole page, or of an area of it. */
async function takeShot(page: Page, area?: Region) {
  const clip = area && { x: area.left, y: area.top, width: area.width, height: area.height };
  const png = await page.screenshot({ fullPage: true, animations: "disabled", ...(clip && { clip }) });
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data, raw: { width: info.width, height: info.height, channels: info.channels } };
}

type Shot = Awaited<ReturnType<typeof takeShot>>;

async function cutOut(page: Page, whole: Shot | null, slug: string, width: number): Promise<Buffer> {
  const box = (await page.evaluate(boxOf(slug))) as { x: number; y: number; width: number; height: number };
  const area = {
    left: Math.round(box.x),
    top: Math.round(box.y),
    width: Math.round(box.width),
    height: Math.min(Math.round(box.height), Math.floor(shotHeightPx / scale)),
  };
  const { data, raw } = whole ?? (await takeShot(page, area));
  const shot = whole === null ? sharp(data, { raw }) : sharp(data, { raw }).extract(area);
  const small = await shot
    .resize({ width: Math.round(area.width * scale), kernel: "linear" })
    .png()
    .toBuffer();
  const size = { width: shotWidthsPx[width] ?? area.width, height: shotHeightPx };
  return sharp(small)
    .resize({ ...size, fit: "contain", position: "left top", background: padding, withoutEnlargement: true })
    .flatten({ background: padding })
    .png()
    .toBuffer();
}

async function placeSideBySide(shots: Buffer[]): Promise<Buffer> {
  const shotWidths = widths.flatMap((width) => schemes.map(() => shotWidthsPx[width] ?? 0));
  const lefts = shotWidths.map((_, i) => shotWidths.slice(0, i).reduce((sum, width) => sum + width, 0));
  return sharp({
    create: {
      width: shotWidths.reduce((sum, width) => sum + width, 0),
      height: shotHeightPx,
      channels: 3,
      background: padding,
    },
  })
    .composite(shots.map((input, i) => ({ input, left: lefts[i] ?? 0, top: 0 })))
    .webp({ quality: 60 })
    .toBuffer();
}

const cellPx = 6;
const farApart = 36;

/**
 * The share of cells whose mean colours lie far apart, padding left out. Letters of another font change a cell a little; a missing
 * border, another colour or a part in another place change many cells much.
 */
export async function compareLooks(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([toCells(one), toCells(other)]);
  if (a.length !== b.length) return 1;
  let [changed, looked] = [0, 0];
  for (let at = 0; at < a.length; at += 3) {
    const [here, there] = [a.subarray(at, at + 3), b.subarray(at, at + 3)];
    if (isPadding(here) && isPadding(there)) continue;
    looked++;
    if (here.some((value, channel) => Math.abs(value - (there[channel] ?? 0)) > farApart)) changed++;
  }
  return changed / looked;
}

const isPadding = (cell: Buffer) => cell.every((value) => Math.abs(value - paddingGrey) < 4);

async function toCells(picture: Buffer): Promise<Buffer> {
  const { width = 0, height = 0 } = await sharp(picture).metadata();
  const size = { width: Math.floor(width / cellPx), height: Math.floor(height / cellPx) };
  return sharp(picture)
    .resize({ ...size, fit: "fill", kernel: "linear" })
    .removeAlpha()
    .raw()
    .toBuffer();
}
