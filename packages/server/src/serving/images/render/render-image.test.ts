import assert from "node:assert/strict";
import { before, test } from "node:test";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { isobmffHead, palette, solid } from "../../../../test/support/render/test-images.ts";
import { confineDecoders, renderImage } from "./render-image.ts";

// The pool refuses most of these by their first bytes. Here nothing stands before the decoders.

const order = { width: 10, fit: "contain", quality: 85, format: "png" } as const;
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"/>');

before(confineDecoders);

test("only the five loaders are left", async () => {
  const refused = {
    svg,
    svgz: gzipSync(svg),
    tiff: await solid(20, 20, palette.red).tiff().toBuffer(),
    "svg behind an AVIF head": Buffer.concat([isobmffHead("avif", "avif"), svg]),
    raw: Buffer.from("P6 1 1 255 abc"),
  };
  for (const [name, bytes] of Object.entries(refused)) {
    assert.deepEqual(await renderImage(bytes, order), { ok: false, problem: "unprocessable" }, name);
  }
  for (const kind of ["jpeg", "png", "gif", "webp", "avif"] as const) {
    const result = await renderImage(await solid(20, 20, palette.red).toFormat(kind).toBuffer(), order);
    assert.equal(result.ok, true, kind);
  }
});

test("one thread and no cache", () => {
  assert.equal(sharp.concurrency(), 1);
  assert.deepEqual(sharp.cache().memory.max, 0);
});
