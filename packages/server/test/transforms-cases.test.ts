import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import type { Recipe } from "../src/serving/images/recipe.ts";
import { assertPixel, assertUpright, whitePixel } from "./support/render/pixel-assertions.ts";
import {
  animation,
  craftGif,
  craftPng,
  isobmffHead,
  palette,
  quadrants,
  type Rgb,
  solid,
} from "./support/render/test-images.ts";
import { signVariant } from "./support/sign-variant.ts";
import { startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

// The twenty cases of hostile and odd images as a client meets them: uploaded, asked for and read back. What the
// decoders themselves make of them is in src/serving/images/render.

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>';

interface Refused {
  what: string;
  bytes: Buffer;
  type?: string;
  /** Of the call that asks for the URL; 415 where the header shows it. */
  asked?: 200 | 415;
  status: number;
}

interface Rendered {
  what: string;
  bytes: Buffer;
  type?: string;
  ask: object;
  size: [number, number];
  /** Where, and what colour. */
  pixels?: [number, number, Rgb][];
}

describe("the twenty cases over HTTP", () => {
  let app: TestApp;
  let pro: Tenant;
  before(async () => {
    app = await startApp();
    pro = await app.createTenant("pro");
  });
  after(() => app.close());

  async function getVariant(bytes: Buffer, type: string, ask: object): Promise<Response> {
    const { key } = await uploadFile(app, bytes, { key: pro.live, name: "image", type });
    const body = { key, delivery: "public", ...ask };
    const made = await app.call("POST", "transforms/image", { key: pro.live, body });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return fetch(made.body.url, { headers: { accept: "*/*" } });
  }

  /** A URL that was made by hand is refused as well. */
  async function getUnasked(bytes: Buffer, type: string, ask: Partial<Recipe>, asked: number) {
    const { key } = await uploadFile(app, bytes, { key: pro.live, name: "image", type });
    const made = await app.call("POST", "transforms/image", { key: pro.live, body: { key, ...ask } });
    assert.equal(made.status, asked, JSON.stringify(made.body));
    return fetch(await signVariant(app, key, ask), { headers: { accept: "*/*" } });
  }

  async function refuses({ what, bytes, type = "image/png", asked = 200, status }: Refused): Promise<void> {
    for (const format of ["jpeg", "webp"] as const) {
      const response = await getUnasked(bytes, type, { width: 50, format }, asked);
      const { error } = (await response.json()) as { error: { code: string } };
      assert.equal(response.status, status, what);
      assert.equal(error.code, status === 415 ? "UNSUPPORTED_TRANSFORM_TYPE" : "VALIDATION_ERROR", what);
      assert.equal(response.headers.get("cache-control"), "public, max-age=60");
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
    }
  }

  async function renders({ what, bytes, type = "image/png", ask, size, pixels = [] }: Rendered) {
    const response = await getVariant(bytes, type, ask);
    assert.equal(response.status, 200, what);
    const image = await response.bytes();
    const { width, height, pageHeight } = await sharp(image, { animated: true }).metadata();
    assert.deepEqual([width, pageHeight ?? height], size, what);
    for (const [x, y, colour] of pixels) await assertPixel(image, x, y, colour);
    return image;
  }

  it("1, 2, 5 and 6: what is too large, cut off or lying is 422", async () => {
    const photo = await quadrants(300, 200).jpeg().toBuffer();
    await refuses({
      what: "a PNG of 256 megapixels",
      bytes: craftPng(16_000, 16_000, Buffer.alloc(16_000 * 2001), 1),
      asked: 415,
      status: 422,
    });
    await refuses({
      what: "a GIF of 52 megapixels",
      bytes: craftGif(2000, 2000, 13),
      type: "image/gif",
      asked: 415,
      status: 422,
    });
    await refuses({ what: "half a JPEG", bytes: photo.subarray(0, photo.length / 2), status: 422 });
    await refuses({
      what: "a PNG that lies",
      bytes: craftPng(3000, 3000, Buffer.alloc(21 * 20)),
      status: 422,
    });
  });

  it("says which limit was passed, and what to do about it", async () => {
    const ask = { width: 4096, fit: "contain", format: "webp" } as const;
    for (const [bytes, asked, message, suggestion] of [
      [craftGif(2000, 2000, 13), 415, /^The image is larger than 50 megapixels/, /^Upload .* fewer pixels/],
      [
        craftGif(100, 100, 5),
        200,
        /^The animation would be larger than 50 megapixels/,
        /smaller width or height/,
      ],
    ] as const) {
      const response = await getUnasked(bytes, "image/gif", ask, asked);
      const { error } = (await response.json()) as { error: Record<string, string> };
      assert.deepEqual([response.status, error["code"]], [422, "VALIDATION_ERROR"]);
      assert.match(error["message"] ?? "", message);
      assert.match(error["suggestion"] ?? "", suggestion);
    }
    const still = await getVariant(craftGif(100, 100, 5), "image/gif", { ...ask, format: "jpeg" });
    assert.equal(still.status, 200);
    await still.bytes();
  });

  it("7 to 10: what is no readable image is 415, whatever it was declared as", async () => {
    const heic = Buffer.concat([isobmffHead("heic", "mif1", "heic"), Buffer.alloc(200)]);
    const tiff = await solid(20, 20, palette.red).tiff().toBuffer();
    await refuses({ what: "SVG", bytes: Buffer.from(svg), asked: 415, status: 415 });
    await refuses({
      what: "SVG in AVIF's clothes",
      bytes: Buffer.from(`<!--ftypavif-->${svg}`),
      asked: 415,
      status: 415,
    });
    await refuses({ what: "svgz", bytes: gzipSync(svg), asked: 415, status: 415 });
    await refuses({ what: "TIFF", bytes: tiff, asked: 415, status: 415 });
    await refuses({ what: "HEIC", bytes: heic, type: "image/avif", asked: 415, status: 415 });
    for (const [bytes, type] of [
      [Buffer.from(svg), "image/svg+xml"],
      [heic, "image/heic"],
      [tiff, "image/tiff"],
    ] as const) {
      const { key } = await uploadFile(app, bytes, { key: pro.live, name: "x", type });
      const made = await app.call("POST", "transforms/image", { key: pro.live, body: { key, width: 5 } });
      assert.deepEqual([made.status, made.body.error.code], [415, "UNSUPPORTED_TRANSFORM_TYPE"], type);
    }
  });

  it("3 and 4: extreme shapes stay within 4096 pixels", async () => {
    const line = await solid(2000, 1, palette.blue).png().toBuffer();
    const ask = { height: 4096, format: "jpeg" };
    const blue: [number, number, Rgb][] = [[2000, 0, palette.blue]];
    await renders({
      what: "cover",
      bytes: line,
      ask: { ...ask, fit: "cover" },
      size: [4096, 4096],
      pixels: blue,
    });
    for (const fit of ["contain", "pad"]) {
      await renders({ what: fit, bytes: line, ask: { ...ask, fit }, size: [4096, 2], pixels: blue });
    }
    await renders({
      what: "one pixel, as large as can be",
      bytes: await solid(1, 1, palette.green).png().toBuffer(),
      ask: { width: 4096, height: 4096, fit: "cover", format: "avif", quality: 50 },
      size: [4096, 4096],
      pixels: [[4095, 4095, palette.green]],
    });
  });

  it("11 and 12: nothing but the picture gets through", async () => {
    const jpeg = await quadrants(80, 80)
      .withExif({ IFD0: { Copyright: "hidden-note" }, IFD3: { GPSLatitudeRef: "N" } })
      .jpeg()
      .toBuffer();
    const bytes = Buffer.concat([jpeg, Buffer.from("<script>hidden-note</script>PK\x03\x04")]);
    for (const format of ["jpeg", "png", "webp", "avif"]) {
      const ask = { width: 80, format };
      const image = Buffer.from(await renders({ what: format, bytes, ask, size: [80, 80] }));
      assert.equal(image.includes("hidden-note") || image.includes("PK\x03\x04"), false, format);
      assert.equal((await sharp(image).metadata()).exif, undefined);
      await assertUpright(image, 80, 80);
    }
  });

  it("large sources, one after another and at once, each come out as themselves", async () => {
    const comment = Buffer.alloc(2 + 0xffff, 0xff).fill("a comment ", 4);
    comment.writeUInt16BE(0xfffe);
    const fileOf = async (colour: Rgb, comments: number) => {
      const jpeg = await solid(40, 40, colour).jpeg().toBuffer();
      const bytes = Buffer.concat([jpeg.subarray(0, 2), ...Array(comments).fill(comment), jpeg.subarray(2)]);
      const ask = { width: 20, format: "png" };
      const pixels: Rendered["pixels"] = [[10, 10, colour]];
      return { what: `${bytes.length} bytes`, bytes, ask, size: [20, 20] as [number, number], pixels };
    };
    const files = [
      await fileOf(palette.red, 80),
      await fileOf(palette.green, 8),
      await fileOf(palette.blue, 20),
      await fileOf(palette.yellow, 2),
    ];
    for (const file of files) await renders(file);
    await Promise.all(files.map(renders));
  });

  it("13: an orientation is applied before the size is", async () => {
    // Stored lying on its side: red and green above once it is turned.
    const bytes = await quadrants(80, 120, { width: 120, height: 80, at: (x, y) => [y, 79 - x] })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const image = await renders({ what: "orientation 6", bytes, ask: { width: 40 }, size: [40, 60] });
    await assertUpright(image, 40, 60);
  });

  it("14 and 15: JPEG is white where nothing is, and only WebP moves", async () => {
    const glass = await solid(100, 50, palette.blue, 0).png().toBuffer();
    await renders({
      what: "padded glass",
      bytes: glass,
      ask: { width: 80, height: 80, fit: "pad", format: "jpeg" },
      size: [80, 80],
      pixels: [
        [2, 2, whitePixel],
        [40, 40, whitePixel],
      ],
    });
    const film = await (await animation(60, 40, [palette.red, palette.green])).gif().toBuffer();
    for (const [format, pages] of [
      ["avif", 1],
      ["jpeg", 1],
      ["webp", 2],
    ] as const) {
      const image = await renders({
        what: format,
        bytes: film,
        type: "image/gif",
        ask: { width: 30, format },
        size: [30, 20],
        pixels: [[15, 10, palette.red]],
      });
      assert.equal((await sharp(image).metadata()).pages ?? 1, pages, format);
    }
  });

  it("16: CMYK comes out in sRGB", async () => {
    const cmyk = await solid(60, 40, palette.green).toColourspace("cmyk").jpeg({ quality: 100 }).toBuffer();
    const image = await renders({
      what: "CMYK",
      bytes: cmyk,
      type: "image/jpeg",
      ask: { width: 30, format: "png" },
      size: [30, 20],
    });
    assert.equal((await sharp(image).metadata()).space, "srgb");
    await assertPixel(image, 15, 10, palette.green, 60);
  });

  it("every fit has the size that its name promises", async () => {
    const fits = {
      "scale-down": [
        [400, 240],
        [200, 120],
        [400, 48],
      ],
      contain: [
        [400, 240],
        [400, 240],
        [400, 48],
      ],
      cover: [
        [400, 400],
        [400, 400],
        [400, 400],
      ],
      crop: [
        [400, 400],
        [200, 120],
        [400, 120],
      ],
      pad: [
        [400, 400],
        [400, 400],
        [400, 400],
      ],
    } as const;
    const sources = await Promise.all(
      [
        [1000, 600],
        [200, 120],
        [1000, 120],
      ].map(([width = 1, height = 1]) => quadrants(width, height).webp().toBuffer()),
    );
    for (const [fit, sizes] of Object.entries(fits)) {
      for (const [index, bytes] of sources.entries()) {
        const [width = 0, height = 0] = sizes[index] ?? [];
        const image = await renders({
          what: `${fit} ${index}`,
          bytes,
          type: "image/webp",
          ask: { width: 400, height: 400, fit, format: "png" },
          size: [width, height],
        });
        if (fit !== "pad") await assertUpright(image, width, height);
      }
    }
  });
});
