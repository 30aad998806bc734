import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import sharp from "sharp";
import { compareLooks } from "../../packages/gallery/test/support/look.ts";
import { collectComplaints, untilAlive } from "../examples/drive-example.ts";
import { ownColour } from "./app-row.ts";

/** Twelve parts. */
export const largeFileBytes = 60 * 1024 * 1024;
const partBytes = 5 * 1024 * 1024;
const partCount = largeFileBytes / partBytes;
/** So many are sent before the page is reloaded. */
const partsBeforeReload = 5;

const schemes = {
  light: { accent: "rgb(79, 70, 229)" },
  dark: { accent: "rgb(139, 135, 255)" },
} as const;
type Scheme = keyof typeof schemes;
export type Looks = Record<Scheme, Buffer>;

export interface Visit {
  url: string;
  serviceUrl: string;
  largeFile: { path: string; sha256: string };
  hasComponents: boolean;
  /** False where the application allows no large files. */
  isResumed: boolean;
}

/** What a visitor does and sees. Returns how it looks while a file is being sent. */
export async function driveApp(browser: Browser, visit: Visit): Promise<Looks | null> {
  const context = await browser.newContext({
    viewport: { width: 800, height: 900 },
    reducedMotion: "reduce",
  });
  try {
    // A page without one is no fault.
    await context.route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
    const page = await context.newPage();
    const complaints = collectComplaints(page);
    page.setDefaultTimeout(60_000);
    await page.goto(visit.url);
    await untilAlive(page);
    if (visit.hasComponents) await expectButtons(page);
    await uploadSmallFile(page);
    const looks = visit.isResumed ? await reloadInTheMiddle(context, page, visit) : null;
    assert.deepEqual(complaints, []);
    return looks;
  } finally {
    await context.close();
  }
}

const inputs = ".us-dropzone input[type=file], input[type=file]";
const stored = "a[href*='/f/'], img[src*='/f/']";

/** Runs in the page. */
const colourOf = (selector: string) =>
  `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`;

async function inBothSchemes(page: Page, look: (scheme: Scheme) => Promise<void>): Promise<void> {
  for (const scheme of Object.keys(schemes) as Scheme[]) {
    await page.emulateMedia({ colorScheme: scheme });
    await look(scheme);
  }
}

async function expectButtons(page: Page): Promise<void> {
  await inBothSchemes(page, async (scheme) => {
    const { accent } = schemes[scheme];
    assert.equal(await page.evaluate(colourOf(".us-dropzone .us-button")), accent, `the button, ${scheme}`);
    const own = await page.evaluate(colourOf(".us-upload-button .us-button"));
    assert.equal(own, ownColour, `the button with a class of the application, ${scheme}`);
  });
}

async function uploadSmallFile(page: Page): Promise<void> {
  const buffer = randomBytes(300_000);
  await page.locator(inputs).first().setInputFiles({ name: "größe.png", mimeType: "image/png", buffer });
  await expectStored(page, createHash("sha256").update(buffer).digest("hex"));
}

async function expectStored(page: Page, sha256: string): Promise<void> {
  const shown = page.locator(stored).last();
  await shown.waitFor({ state: "attached" });
  const address = (await shown.getAttribute("href")) ?? (await shown.getAttribute("src")) ?? "";
  const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
  assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256, "what was stored");
}

async function reloadInTheMiddle(context: BrowserContext, page: Page, visit: Visit): Promise<Looks | null> {
  await page.goto(visit.url);
  await untilAlive(page);
  const parts = await watchParts(context, visit.serviceUrl);
  const choose = () => page.locator(inputs).first().setInputFiles(visit.largeFile.path);
  parts.holdAfter(partsBeforeReload);
  await choose();
  await parts.untilSent(partsBeforeReload);
  const looks = visit.hasComponents ? await lookAtProgress(page) : null;
  await page.reload();
  await untilAlive(page);
  const before = parts.count();
  parts.holdAfter(Number.POSITIVE_INFINITY);
  if (visit.hasComponents) await continueUpload(page, visit.largeFile.path);
  else await choose();
  await expectStored(page, visit.largeFile.sha256);
  const sentAgain = parts.count() - before;
  assert.equal(sentAgain, partCount - before, `parts sent after the reload, of ${partCount}`);
  return looks;
}

/** As the dropzone offers it; choosing the file anew in its field would do as well. */
async function continueUpload(page: Page, path: string): Promise<void> {
  const button = page.locator(".us-dropzone").getByRole("button", { name: "Continue large.bin" });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles(path);
}

/** Lets so many parts reach the service and holds back the others, as a slow line would. */
async function watchParts(context: BrowserContext, serviceUrl: string) {
  let sent = 0;
  let allowed = 0;
  let started = 0;
  await context.route(
    (url) => url.href.startsWith(serviceUrl),
    async (route) => {
      if (route.request().method() !== "PUT") return route.continue();
      if (started >= allowed) return;
      started++;
      await route.continue();
    },
  );
  context.on("requestfinished", (request) => {
    if (request.method() === "PUT" && request.url().startsWith(serviceUrl)) sent++;
  });
  return {
    count: () => sent,
    holdAfter(count: number) {
      started = 0;
      allowed = count;
    },
    async untilSent(count: number) {
      while (sent < count) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}

async function lookAtProgress(page: Page): Promise<Looks> {
  const looks: Partial<Looks> = {};
  await inBothSchemes(page, async (scheme) => {
    const { accent } = schemes[scheme];
    const bar = await page.evaluate(colourOf(".us-dropzone .us-track-fill"));
    assert.equal(bar, accent, `the progress bar, ${scheme}`);
    looks[scheme] = await takeLook(page);
  });
  return looks as Looks;
}

/** Whatever font, size and place the application gives it: those are the application's to choose. */
const sameSurroundings = `html { font-size: 16px !important; }
#demo, #demo * { font-family: sans-serif !important; letter-spacing: normal !important; }
#demo { text-align: start; position: fixed !important; inset: 0 auto auto 0; z-index: 99; width: 480px; height: 420px; background: #888; }`;

async function takeLook(page: Page): Promise<Buffer> {
  const style = await page.addStyleTag({ content: sameSurroundings });
  const clip = { x: 0, y: 0, width: 480, height: 420 };
  const picture = await page.screenshot({ clip, animations: "disabled" });
  await style.evaluate((element: unknown) => (element as { remove(): void }).remove());
  return picture;
}

/** Cells of the gallery's size. */
const small = (picture: Buffer) => sharp(picture).resize({ width: 160 }).png().toBuffer();

/** The share of the picture that differs, in the worse of both schemes. */
export async function compareToReference(looks: Looks, reference: Looks): Promise<number> {
  const shares = (Object.keys(schemes) as Scheme[]).map(async (scheme) =>
    compareLooks(await small(looks[scheme]), await small(reference[scheme])),
  );
  return Math.max(...(await Promise.all(shares)));
}
