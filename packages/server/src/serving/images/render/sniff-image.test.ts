import assert from "node:assert/strict";
import { test } from "node:test";
import { isobmffHead, palette, solid } from "../../../../test/support/render/test-images.ts";
import { findSourceKind } from "./sniff-image.ts";

for (const kind of ["jpeg", "png", "gif", "webp", "avif"] as const) {
  test(`knows ${kind}`, async () => {
    const bytes = await solid(8, 8, palette.red).toFormat(kind).toBuffer();
    assert.equal(findSourceKind(bytes), kind);
    assert.equal(findSourceKind(new Uint8Array(bytes)), kind);
    assert.equal(findSourceKind(bytes.subarray(1)), null);
  });
}

test("AVIF may be the major or a compatible brand, still or moving", () => {
  assert.equal(findSourceKind(isobmffHead("avif", "mif1")), "avif");
  assert.equal(findSourceKind(isobmffHead("avis", "mif1")), "avif");
  assert.equal(findSourceKind(isobmffHead("mif1", "miaf", "avif")), "avif");
});

const others: Record<string, Buffer> = {
  HEIC: isobmffHead("heic", "mif1", "heic"),
  "an MP4": isobmffHead("isom", "mp41"),
  "a brand beyond the box": Buffer.concat([isobmffHead("mif1", "heic"), Buffer.from("avif")]),
  "a version number spelled avif": Buffer.from("\0\0\0\x14ftypheicavifmif1", "latin1"),
  "a text that says ftypavif": Buffer.from("<!--ftypavif--><svg/>"),
  "a box cut short": isobmffHead("avif", "mif1").subarray(0, 12),
  "a WAV": Buffer.from("RIFF\0\0\0\0WAVEfmt "),
  nothing: Buffer.alloc(0),
};
for (const [name, bytes] of Object.entries(others)) {
  test(`does not take ${name} for an image`, () => assert.equal(findSourceKind(bytes), null));
}
