import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  assertRefused,
  closePool,
  render,
  tryRender,
} from "../../../../test/support/render/render-assertions.ts";
import {
  craftGif,
  craftPng,
  isobmffHead,
  palette,
  quadrants,
  solid,
} from "../../../../test/support/render/test-images.ts";

after(closePool);

test("case 1: a PNG of 31 KB that claims 256 megapixels is refused", async () => {
  const bomb = craftPng(16_000, 16_000, Buffer.alloc(16_000 * 2001), 1);
  assert.ok(bomb.length < 40_000);
  await assertRefused(bomb, "too-large");
});

test("case 2: the frames of a GIF count together", async () => {
  await assertRefused(craftGif(2000, 2000, 13), "too-large");
  const within = await render(craftGif(2000, 2000, 12), { width: 50, format: "jpeg" });
  assert.deepEqual([within.width, within.height], [50, 50]);
});

test("an animation that would unfold into too many output pixels is refused", async () => {
  const gif = craftGif(10, 10, 20);
  const asked = { width: 2000, fit: "contain" } as const;
  assert.deepEqual(await tryRender(gif, { ...asked, format: "webp" }), {
    ok: false,
    problem: "result-too-large",
  });
  assert.equal((await render(gif, { ...asked, format: "jpeg" })).width, 2000);
});

test("case 5: what was cut off is unprocessable", async () => {
  for (const kind of ["jpeg", "png", "webp", "gif", "avif"] as const) {
    const whole = await quadrants(300, 200).toFormat(kind).toBuffer();
    await assertRefused(whole.subarray(0, Math.floor(whole.length / 2)), "unprocessable");
  }
  const whole = await quadrants(300, 200).jpeg().toBuffer();
  await assertRefused(whole.subarray(0, 60), "unprocessable");
});

test("case 6: a PNG whose header lies about its size is unprocessable", async () => {
  await render(craftPng(20, 20, Buffer.alloc(21 * 20)), { width: 10 });
  await assertRefused(craftPng(3000, 3000, Buffer.alloc(21 * 20)), "unprocessable");
});

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>';

test("case 7: SVG is unsupported whatever it is called", async () => {
  await assertRefused(Buffer.from(svg), "unsupported");
  await assertRefused(Buffer.from(`<?xml version="1.0"?>${svg}`), "unsupported");
});

test("case 8: an SVG dressed up as AVIF is never drawn", async () => {
  await assertRefused(Buffer.from(`<!--ftypavif-->${svg}`), "unsupported");
  // With a box size that holds, the decoders meet it, and must not fall back to the SVG loader.
  await assertRefused(Buffer.concat([isobmffHead("avif", "avif"), Buffer.from(svg)]), "unprocessable");
  await assertRefused(
    Buffer.concat([Buffer.from("\xff\xd8\xff", "latin1"), Buffer.from(svg)]),
    "unprocessable",
  );
});

test("case 9: svgz, TIFF and other files are unsupported", async () => {
  await assertRefused(gzipSync(svg), "unsupported");
  await assertRefused(await solid(20, 20, palette.red).tiff().toBuffer(), "unsupported");
  await assertRefused(Buffer.from("%PDF-1.7\n"), "unsupported");
  await assertRefused(Buffer.alloc(0), "unsupported");
  await assertRefused(Buffer.from("GIF"), "unsupported");
});

test("case 10: HEIC is unsupported, also when its brands say AVIF", async () => {
  await assertRefused(Buffer.concat([isobmffHead("heic", "mif1", "heic"), Buffer.alloc(200)]), "unsupported");
  const avif = (await solid(20, 20, palette.red).avif().toBuffer()).toString("latin1");
  const disguised = avif.replaceAll("av01", "hvc1").replaceAll("av1C", "hvcC");
  await assertRefused(Buffer.from(disguised, "latin1"), "unsupported", "unprocessable");
});
