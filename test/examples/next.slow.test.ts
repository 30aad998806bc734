import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { driveExample } from "./drive-example.ts";

driveExample({
  name: "next",
  isBuilt: true,
  server: (port) => ["node_modules/next/dist/bin/next", "start", "--port", String(port)],
  file: { name: "größe.png", mimeType: "image/png", sizeBytes: 300_000 },
  hasComponents: true,
  thenDrive: showImages,
});

const widths = [16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200];

/** Two images, one by UpstowImage and one by next/image: placeholders first, no shift, the width that fits. */
async function showImages(page: Page): Promise<void> {
  const create = { width: 1200, height: 800, channels: 3, background: "#336699" } as const;
  const buffer = await sharp({ create }).jpeg().toBuffer();
  for (const name of ["first.jpg", "second.jpg"]) {
    await page.setInputFiles("input[type=file]", { name, mimeType: "image/jpeg", buffer });
    await page.locator(`a[href$='/${name}']`).waitFor({ timeout: 0 });
  }
  const held = Promise.withResolvers<void>();
  const asked: string[] = [];
  await page.route(/\/i\/w_/, async (route) => {
    asked.push(route.request().url());
    await held.promise;
    await route.continue();
  });
  await page.setViewportSize({ width: 600, height: 1000 });
  const images = page.locator("main img");
  // The service looks for their facts meanwhile.
  const address = new URL("/images", page.url()).href;
  do {
    asked.length = 0;
    await page.goto(address, { waitUntil: "domcontentloaded" });
  } while ((await images.count()) < 2);

  for (const image of await images.all()) {
    const [red = 0, green = 0, blue = 0] = await middleOf(await image.screenshot({ timeout: 0 }));
    const distance = Math.max(Math.abs(red - 0x33), Math.abs(green - 0x66), Math.abs(blue - 0x99));
    assert.ok(distance < 25, `the placeholder is ${red} ${green} ${blue}`);
  }
  assert.equal(await page.evaluate("[...document.images].some((image) => image.naturalWidth > 0)"), false);
  held.resolve();
  await page.waitForFunction("[...document.images].every((image) => image.naturalWidth > 0)", null, {
    timeout: 0,
  });
  const [latest, other] = await Promise.all(
    ["0", "1"].map((index) => page.evaluate<Shown>(readImage(index))),
  );
  assert.deepEqual(
    latest?.sources,
    widths.map((width) => [`w_${width},fit_scale-down,q_75,f_auto`, `${width}w`]),
  );
  assert.match(latest?.shown ?? "", /\/i\/w_640,/);
  assert.deepEqual(other?.sources, [
    ["w_384,fit_scale-down,q_75,f_auto", "1x"],
    ["w_640,fit_scale-down,q_75,f_auto", "2x"],
  ]);
  assert.match(other?.shown ?? "", /\/i\/w_384,/);
  assert.equal(asked.length, 2);
  assert.equal(await page.evaluate<number>(layoutShift), 0);
}

interface Shown {
  shown: string;
  sources: [recipe: string, descriptor: string][];
}

/** Run in the page. */
const readImage = (index: string) => `(() => {
  const { srcset, currentSrc: shown } = document.querySelectorAll("main img")[${index}];
  const sources = srcset.split(", ").map((source) => source.split(" "));
  return { shown, sources: sources.map(([url, descriptor]) => [url.split("/i/")[1].split("/")[0], descriptor]) };
})()`;
const layoutShift = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) sum += value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 500);
})`;

async function middleOf(picture: Buffer): Promise<Buffer> {
  const { width = 1, height = 1 } = await sharp(picture).metadata();
  const middle = { left: width >> 1, top: height >> 1, width: 1, height: 1 };
  return sharp(picture).extract(middle).removeAlpha().raw().toBuffer();
}
