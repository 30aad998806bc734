import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  animation,
  createRandom,
  isobmffHead,
  palette,
  quadrants,
} from "../../../../test/support/render/test-images.ts";
import { examineHeader } from "./examine-header.ts";

const mostBytes = 1024 * 1024;

/** What is thought of some bytes, and how many of them were read for it. */
async function examine(bytes: Buffer) {
  let reads = 0;
  let readBytes = 0;
  const verdict = await examineHeader(async (start, length) => {
    assert.ok(start >= 0 && length > 0 && start + length <= bytes.length, `${start} ${length}`);
    reads++;
    readBytes += length;
    return bytes.subarray(start, start + length);
  }, bytes.length);
  return { verdict, reads, readBytes };
}

const repeat = (count: number, ...values: number[]) => Buffer.concat(Array(count).fill(Buffer.from(values)));
const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("a look at an image's header", () => {
  it("is one read for most images", async () => {
    for (const kind of ["jpeg", "png", "gif", "webp", "avif"] as const) {
      const { verdict, reads } = await examine(await quadrants(700, 500).toFormat(kind).toBuffer());
      assert.deepEqual([verdict, reads], ["fine", 1], kind);
    }
  });

  it("ends soon in files that lead it on", async () => {
    const gifScreen = latin1("GIF89a\x10\0\x10\0\0\0\0");
    const png = await quadrants(4, 4).png().toBuffer();
    for (const [what, bytes] of Object.entries({
      "JPEG segments of no bytes": Buffer.concat([latin1("\xff\xd8"), repeat(2_000_000, 0xff, 0xe0, 0, 0)]),
      "JPEG fill bytes": Buffer.alloc(3_000_000, 0xff).fill(latin1("\xff\xd8\xff"), 0, 3),
      "JPEG segments of two bytes": Buffer.concat([latin1("\xff\xd8"), repeat(900_000, 0xff, 0xe0, 0, 2)]),
      "JPEG segments of 64 KB": Buffer.concat([
        latin1("\xff\xd8"),
        ...Array<Buffer>(60).fill(Buffer.concat([latin1("\xff\xe2\xff\xff"), Buffer.alloc(65_533)])),
      ]),
      "GIF blocks of one byte": Buffer.concat([gifScreen, latin1("!\xf9"), repeat(2_000_000, 1, 7)]),
      "GIF frames without end": Buffer.concat([
        gifScreen,
        repeat(200_000, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0),
      ]),
      "WebP chunks of nothing": Buffer.concat([
        latin1("RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x01\0\0\x01\0\0"),
        ...Array<Buffer>(200_000).fill(latin1("ALPH\0\0\0\0")),
      ]),
      "a WebP chunk beyond the file": latin1(
        "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x01\0\0\x01\0\0ANMF\xff\xff\xff\xff",
      ),
      "AVIF boxes of nothing": Buffer.concat([
        isobmffHead("avif", "avif"),
        repeat(300_000, 0, 0, 0, 8, 1, 2, 3, 4),
      ]),
      "an AVIF box of 2^64": Buffer.concat([
        isobmffHead("avif", "avif"),
        latin1("\0\0\0\x01mdat"),
        Buffer.alloc(8, 255),
      ]),
      "boxes in boxes": Buffer.concat([
        isobmffHead("avif", "avif"),
        latin1("\0\0\0\0meta\0\0\0\0\0\0\0\0iprp\0\0\0\0ipco"),
      ]),
      "a long PNG": Buffer.concat([png, Buffer.alloc(2_000_000)]),
    })) {
      const { verdict, reads, readBytes } = await examine(bytes);
      assert.ok(["fine", "unsupported", "too-large"].includes(verdict));
      assert.ok(reads <= 4 && readBytes <= mostBytes, `${what}: ${reads} reads of ${readBytes} bytes`);
    }
  });

  it("survives whatever happens to its bytes", async () => {
    const random = createRandom(7);
    const moving = await animation(30, 20, [palette.red, palette.blue, palette.green]);
    const sources = await Promise.all([
      ...(["jpeg", "png", "gif", "webp", "avif"] as const).map((kind) =>
        quadrants(60, 40).toFormat(kind).toBuffer(),
      ),
      moving.clone().webp().toBuffer(),
      moving.clone().gif().toBuffer(),
    ]);
    for (const source of sources) {
      for (let round = 0; round < 400; round++) {
        const bytes = Buffer.from(source);
        for (let flips = random(8); flips >= 0; flips--)
          bytes[random(Math.min(400, bytes.length))] = random(256);
        const cut = random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes;
        await examine(cut);
      }
    }
  });
});
