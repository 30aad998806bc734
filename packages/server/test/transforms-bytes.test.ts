import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { expectError } from "./support/expect-error.ts";
import {
  animation,
  craftGif,
  craftPng,
  isobmffHead,
  noise,
  palette,
  quadrants,
} from "./support/render/test-images.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const png = await quadrants(60, 40).png().toBuffer();
const jpeg = await quadrants(60, 40).jpeg().toBuffer();

/** A copy with other bytes from `at` on. */
function patched(bytes: Buffer, at: number, ...values: number[]): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(values, at);
  return copy;
}

/** A JPEG whose picture begins behind so many segments of 64 KB, as photos with maps and previews have them. */
function withSegments(count: number): Buffer {
  const segment = Buffer.alloc(65_535 + 2);
  segment.set([0xff, 0xe2, 0xff, 0xff]);
  return Buffer.concat([jpeg.subarray(0, 2), ...Array<Buffer>(count).fill(segment), jpeg.subarray(2)]);
}

onAnyDatabase("the bytes of an image to transform", (database) => {
  let app: TestApp;
  let pro: Tenant;
  before(async () => {
    app = await startApp({ database });
    pro = await app.createTenant("pro");
  });
  after(() => app.close());

  const store = (bytes: Buffer, type = "image/png") =>
    uploadFile(app, bytes, { key: pro.live, name: "image", type });
  const transform = (key: string, width = 20) =>
    app.call("POST", "transforms/image", {
      key: pro.live,
      body: { key, width, format: "webp", delivery: "public" },
    });
  const units = async () => (await app.call("GET", "usage", { key: pro.live })).body.usage.transformUnits;
  const logs = async () =>
    (await app.call("GET", "logs?type=transform.created", { key: pro.live })).body.logs.length;

  describe("are refused with 415, for nothing", () => {
    const avif = isobmffHead("avif", "avif");
    for (const [what, bytes, message] of [
      ["text", Buffer.from("hello, I am text"), /not an image/],
      ["nothing but a signature", png.subarray(0, 8), /not an image/],
      ["half a header", png.subarray(0, 25), /not an image/],
      ["a PNG header whose checksum is wrong", patched(png, 19, 61), /not an image/],
      ["a PNG of no pixels", craftPng(0, 10, Buffer.alloc(1)), /not an image/],
      ["a PNG of a kind that does not exist", craftPng(4, 4, Buffer.alloc(20), 3, 7), /not an image/],
      ["a PNG without its header", Buffer.concat([png.subarray(0, 8), png.subarray(33)]), /not an image/],
      ["a PNG of 60 megapixels", craftPng(10_000, 6_000, Buffer.alloc(100)), /50 megapixels/],
      [
        "the largest PNG that can be said",
        craftPng(2 ** 31 - 1, 2 ** 31 - 1, Buffer.alloc(9)),
        /50 megapixels/,
      ],
      ["an SVG behind JPEG's signature", Buffer.from("\xff\xd8\xff<svg/>", "latin1"), /not an image/],
      [
        "a JPEG of tables only",
        Buffer.concat([jpeg.subarray(0, 20), Buffer.from([0xff, 0xd9])]),
        /not an image/,
      ],
      ["a JPEG of 60 megapixels", resizedJpeg(10_000, 6_000), /50 megapixels/],
      ["a JPEG of no lines", resizedJpeg(100, 0), /not an image/],
      ["a GIF of 60 megapixels", craftGif(10_000, 6_000, 1), /50 megapixels/],
      ["a GIF whose frames are 52 megapixels", craftGif(2_000, 2_000, 13), /50 megapixels/],
      [
        "a WebP without a picture",
        Buffer.from("RIFF\x20\0\0\0WEBPEXIF\x08\0\0\0abcdefgh", "latin1"),
        /not an image/,
      ],
      ["a WebP of 60 megapixels", Buffer.from(webpHead(10_000, 6_000)), /50 megapixels/],
      ["AVIF's name on an SVG", Buffer.concat([avif, Buffer.from("<svg></svg>")]), /not an image/],
      ["AVIF's name and nothing else", avif, /not an image/],
      ["HEIC", Buffer.concat([isobmffHead("heic", "mif1"), Buffer.alloc(200)]), /not an image/],
    ] as [string, Buffer, RegExp][]) {
      it(what, async () => {
        const { key } = await store(bytes);
        const before = [await units(), await logs()];
        const error = expectError(await transform(key), 415, "UNSUPPORTED_TRANSFORM_TYPE");
        assert.match(error.message, message);
        expectError(await transform(key, 30), 415, "UNSUPPORTED_TRANSFORM_TYPE");
        assert.deepEqual([await units(), await logs()], before);
      });
    }

    it("an AVIF of 60 megapixels", async () => {
      const image = await quadrants(64, 48).avif().toBuffer();
      const at = image.indexOf("ispe") + 8;
      const large = Buffer.from(image);
      large.writeUInt32BE(10_000, at);
      large.writeUInt32BE(6_000, at + 4);
      const { key } = await store(large, "image/avif");
      assert.match(
        expectError(await transform(key), 415, "UNSUPPORTED_TRANSFORM_TYPE").message,
        /50 megapixels/,
      );
    });
  });

  describe("are fine, whatever they were declared as", () => {
    const images: [string, () => Promise<Buffer> | Buffer][] = [
      ["PNG", () => png],
      [
        "PNG in grey, one bit",
        () => quadrants(60, 40).toColourspace("b-w").png({ palette: true }).toBuffer(),
      ],
      ["JPEG", () => jpeg],
      ["progressive JPEG", () => noise(300, 200, 1).jpeg({ progressive: true }).toBuffer()],
      [
        "JPEG with EXIF and a profile",
        () => quadrants(60, 40).withMetadata({ orientation: 6, icc: "p3" }).jpeg().toBuffer(),
      ],
      ["JPEG behind 3 segments of 64 KB", () => withSegments(3)],
      ["JPEG behind 40 segments of 64 KB", () => withSegments(40)],
      ["WebP", () => quadrants(60, 40).webp().toBuffer()],
      ["lossless WebP", () => quadrants(60, 40).webp({ lossless: true }).toBuffer()],
      ["WebP with alpha", () => quadrants(60, 40).ensureAlpha(0.5).webp().toBuffer()],
      ["moving WebP", async () => (await animation(30, 20, [palette.red, palette.blue])).webp().toBuffer()],
      ["GIF", () => quadrants(60, 40).gif().toBuffer()],
      ["moving GIF", async () => (await animation(30, 20, [palette.red, palette.blue])).gif().toBuffer()],
      ["48 megapixels of GIF", () => craftGif(2_000, 2_000, 12)],
      ["AVIF", () => quadrants(60, 40).avif().toBuffer()],
      ["AVIF with alpha", () => quadrants(60, 40).ensureAlpha(0.5).avif().toBuffer()],
    ];
    for (const [what, make] of images) {
      it(what, async () => {
        const { key } = await store(await make(), "image/gif");
        const before = await units();
        const made = await transform(key);
        assert.equal(made.status, 200, JSON.stringify(made.body));
        assert.equal(await units(), before + 1);
        const response = await fetch(made.body.url);
        assert.equal(response.status, 200, await response.clone().text());
        assert.equal((await sharp(await response.bytes()).metadata()).width, 20);
      });
    }
  });

  it("show damage further in when they are read", async () => {
    for (const bytes of [jpeg.subarray(0, jpeg.length - 40), craftPng(3_000, 3_000, Buffer.alloc(20))]) {
      const { key } = await store(bytes);
      const made = await transform(key);
      assert.equal(made.status, 200, JSON.stringify(made.body));
      const response = await fetch(made.body.url);
      await response.text();
      assert.equal(response.status, 422);
    }
  });

  it("are looked at once", async () => {
    const { key } = await store(png);
    assert.equal((await transform(key)).status, 200);
    const { deps } = app.app;
    await deps.store.delete([key]);
    assert.equal((await transform(key, 21)).status, 200, "what was seen is remembered");
    const other = await store(png);
    await deps.store.delete([other.key]);
    const before = await units();
    expectError(await transform(other.key), 500, "FILE_DAMAGED");
    assert.equal(await units(), before);
  });

  it("come after the file and before the quota", async () => {
    const text = await store(Buffer.from("no image"));
    expectError(await transform("nope"), 404, "NOT_FOUND");
    const key = (await app.createTenant("pro")).live;
    const answer = await app.call("POST", "transforms/image", { key, body: { key: text.key, width: 5 } });
    expectError(answer, 404, "NOT_FOUND");
  });
});

function resizedJpeg(width: number, height: number): Buffer {
  const at = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  const copy = Buffer.from(jpeg);
  copy.writeUInt16BE(height, at + 5);
  copy.writeUInt16BE(width, at + 7);
  return copy;
}

function webpHead(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(60);
  bytes.write("RIFF\x34\0\0\0WEBPVP8X\x0a\0\0\0", "latin1");
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
}
