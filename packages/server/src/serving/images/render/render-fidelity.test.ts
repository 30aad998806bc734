import assert from "node:assert/strict";
import { after, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import sharp from "sharp";
import { assertPixel, assertUpright, whitePixel } from "../../../../test/support/render/pixel-assertions.ts";
import { closePool, outputFormats, render } from "../../../../test/support/render/render-assertions.ts";
import { animation, noise, palette, quadrants, solid } from "../../../../test/support/render/test-images.ts";
import type { Recipe } from "../recipe.ts";

after(closePool);

for (const format of outputFormats) {
  test(`renders every kind of source to ${format}`, async () => {
    for (const kind of ["jpeg", "png", "webp", "gif", "avif"] as const) {
      const source = await quadrants(120, 80).toFormat(kind).toBuffer();
      const result = await render(source, { width: 60, format });
      assert.deepEqual(
        [result.format, result.contentType, result.width, result.height],
        [format, `image/${format}`, 60, 40],
      );
      const { format: written } = await sharp(result.bytes).metadata();
      assert.equal(written, format === "avif" ? "heif" : format);
      await assertUpright(result.bytes, 60, 40);
    }
  });
}

test("the five fit modes keep, cut and pad what they promise", async () => {
  const source = await quadrants(200, 100).png().toBuffer();
  const asked = { width: 80, height: 80, format: "png" } as const;
  const sizes = { "scale-down": [80, 40], contain: [80, 40], cover: [80, 80], crop: [80, 80], pad: [80, 80] };
  for (const [fit, size] of Object.entries(sizes)) {
    const result = await render(source, { ...asked, fit: fit as Recipe["fit"] });
    assert.deepEqual([result.width, result.height], size);
    if (fit === "pad") {
      await assertPixel(result.bytes, 40, 5, whitePixel);
      assert.equal((await sharp(result.bytes).metadata()).hasAlpha, true);
      await assertPixel(result.bytes, 20, 30, palette.red);
    } else await assertUpright(result.bytes, result.width, result.height);
  }
  const small = await render(source, { width: 400, height: 150, fit: "crop" });
  assert.deepEqual([small.width, small.height], [200, 100]);
});

test("cover and crop cut the sides off the middle; nothing is squeezed", async () => {
  const [r, g, b] = palette.blue;
  const sides = { left: 50, right: 50, background: { r, g, b } };
  const source = await solid(100, 100, palette.red).extend(sides).png().toBuffer();
  for (const fit of ["cover", "crop"] as const) {
    const { bytes } = await render(source, { width: 80, height: 80, fit });
    for (const x of [2, 40, 77]) await assertPixel(bytes, x, 40, palette.red);
  }
  const { bytes } = await render(source, { width: 80, height: 80, fit: "contain" });
  for (const x of [2, 77]) await assertPixel(bytes, x, 20, palette.blue);
});

test("pad with one side adds nothing, whatever the rounding", async () => {
  const source = await solid(333, 77, palette.red).png().toBuffer();
  for (const width of [10, 50, 101, 400]) {
    const { bytes, height } = await render(source, { width, fit: "pad" });
    assert.equal((await sharp(bytes).metadata()).hasAlpha, false);
    for (const y of [0, height - 1]) await assertPixel(bytes, 5, y, palette.red);
  }
});

test("case 3: a line of 2000×1 stays within 4096 pixels", async () => {
  const line = await solid(2000, 1, palette.blue).png().toBuffer();
  const expected = { cover: [4096, 4096], contain: [4096, 2], pad: [4096, 2] };
  for (const [fit, size] of Object.entries(expected)) {
    const result = await render(line, { height: 4096, fit: fit as Recipe["fit"], format: "jpeg" });
    assert.deepEqual([result.width, result.height], size);
    await assertPixel(result.bytes, 2000, result.height - 1, palette.blue);
  }
});

test("case 4: one pixel becomes 4096×4096", async () => {
  const dot = await solid(1, 1, palette.green).png().toBuffer();
  const result = await render(dot, { width: 4096, height: 4096, fit: "cover", format: "jpeg" });
  assert.deepEqual([result.width, result.height], [4096, 4096]);
  await assertPixel(result.bytes, 4095, 4095, palette.green);
});

test("case 11: what is appended to an image does not reach the variant", async () => {
  const jpeg = await quadrants(80, 80).jpeg().toBuffer();
  const zip = Buffer.concat([Buffer.from("PK\x03\x04evil-trailer"), deflateRawSync("evil-trailer")]);
  for (const trailer of [Buffer.from("<html><script>evil-trailer</script>"), zip]) {
    for (const format of outputFormats) {
      const { bytes } = await render(Buffer.concat([jpeg, trailer]), { width: 80, format });
      assert.equal(bytes.includes("evil-trailer"), false);
      assert.equal(bytes.includes("PK\x03\x04"), false);
      await assertUpright(bytes, 80, 80);
    }
  }
});

test("case 12: positions, comments and profiles are stripped", async () => {
  const exif = {
    IFD0: { ImageDescription: "<script>hidden-note</script>", Copyright: "hidden-note" },
    IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 3230/100" },
  };
  const source = await quadrants(80, 80)
    .withExif(exif)
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">hidden-note</x:xmpmeta>')
    .withIccProfile("p3")
    .jpeg()
    .toBuffer();
  assert.ok(source.includes("hidden-note"));
  for (const format of outputFormats) {
    const { bytes } = await render(source, { width: 40, format });
    assert.equal(bytes.includes("hidden-note"), false);
    const { exif: keptExif, xmp, icc, orientation } = await sharp(bytes).metadata();
    assert.deepEqual([keptExif, xmp, icc, orientation], [undefined, undefined, undefined, undefined]);
  }
});

test("case 13: all eight orientations come out upright", async () => {
  const [width, height] = [120, 80];
  const [right, bottom] = [width - 1, height - 1];
  const stored: ((x: number, y: number) => [number, number])[] = [
    (x, y) => [x, y],
    (x, y) => [right - x, y],
    (x, y) => [right - x, bottom - y],
    (x, y) => [x, bottom - y],
    (x, y) => [y, x],
    (x, y) => [y, right - x],
    (x, y) => [bottom - y, right - x],
    (x, y) => [bottom - y, x],
  ];
  for (const [index, at] of stored.entries()) {
    const orientation = index + 1;
    const size = orientation > 4 ? { width: height, height: width } : { width, height };
    const source = await quadrants(width, height, { ...size, at })
      .withMetadata({ orientation })
      .jpeg()
      .toBuffer();
    const scaled = await render(source, { width: 60, format: "jpeg" });
    assert.deepEqual([scaled.width, scaled.height], [60, 40], `orientation ${orientation}`);
    await assertUpright(scaled.bytes, 60, 40);
    const cut = await render(source, { width: 30, height: 60, fit: "cover", format: "webp" });
    await assertUpright(cut.bytes, 30, 60);
  }
});

test("case 14: transparency and padding are white in JPEG", async () => {
  const glass = await solid(100, 50, palette.blue, 0).png().toBuffer();
  const flat = await render(glass, { width: 50, format: "jpeg" });
  await assertPixel(flat.bytes, 25, 12, whitePixel, 2);

  const opaque = await solid(100, 50, palette.blue).png().toBuffer();
  for (const source of [glass, opaque]) {
    const padded = await render(source, { width: 80, height: 80, fit: "pad", format: "jpeg" });
    for (const [x, y] of [
      [2, 2],
      [77, 2],
      [40, 10],
      [40, 77],
    ] as const) {
      await assertPixel(padded.bytes, x, y, whitePixel, 2);
    }
  }
});

test("case 15: an animation is one frame in every format but WebP", async () => {
  const colours = [palette.red, palette.green, palette.blue];
  const film = await animation(60, 40, colours);
  const timing = { delay: [100, 200, 300], loop: 2 };
  for (const source of [
    await film.clone().gif(timing).toBuffer(),
    await film.clone().webp(timing).toBuffer(),
  ]) {
    for (const format of ["avif", "jpeg", "png"] as const) {
      const still = await render(source, { width: 30, format });
      assert.deepEqual([still.width, still.height], [30, 20]);
      assert.equal((await sharp(still.bytes).metadata()).pages ?? 1, 1);
      await assertPixel(still.bytes, 15, 10, palette.red);
    }
    for (const fit of ["scale-down", "cover", "pad"] as const) {
      const moving = await render(source, { width: 30, height: 30, fit, format: "webp" });
      const { pages, delay, loop } = await sharp(moving.bytes, { animated: true }).metadata();
      assert.deepEqual({ pages, delay, loop }, { pages: 3, ...timing });
      for (const [page, colour] of colours.entries()) {
        await assertPixel(await sharp(moving.bytes, { page }).png().toBuffer(), 15, 10, colour);
      }
    }
  }
});

test("an animated WebP that carries an orientation keeps moving", async () => {
  const film = await animation(60, 40, [palette.red, palette.green]);
  const source = await film.withMetadata({ orientation: 6 }).webp().toBuffer();
  const moving = await render(source, { width: 30, format: "webp" });
  assert.deepEqual([moving.width, moving.height], [30, 20]);
  assert.equal((await sharp(moving.bytes).metadata()).pages, 2);
});

test("case 16: CMYK, Display P3 and 16 bits become sRGB in 8 bits", async () => {
  const base = () => solid(60, 40, palette.red);
  const wide = Uint16Array.from({ length: 60 * 40 * 3 }, (_, i) => (palette.red[i % 3] ?? 0) * 257);
  const sources = {
    cmyk: await base().toColourspace("cmyk").jpeg({ quality: 100 }).toBuffer(),
    p3: await base().withIccProfile("p3").png().toBuffer(),
    deep: await sharp(wide, { raw: { width: 60, height: 40, channels: 3 } })
      .toColourspace("rgb16")
      .png()
      .toBuffer(),
    deepAvif: await base().avif({ bitdepth: 10, quality: 90 }).toBuffer(),
  };
  assert.equal((await sharp(sources.cmyk).metadata()).space, "cmyk");
  assert.equal((await sharp(sources.deep).metadata()).depth, "ushort");
  assert.equal((await sharp(sources.p3).metadata()).hasProfile, true);
  for (const [name, source] of Object.entries(sources)) {
    for (const format of outputFormats) {
      const { bytes } = await render(source, { width: 30, format });
      const { space, depth, bitsPerSample, hasProfile } = await sharp(bytes).metadata();
      assert.deepEqual(
        [space, depth, bitsPerSample ?? 8, hasProfile],
        ["srgb", "uchar", 8, false],
        `${name} ${format}`,
      );
      // Inks cannot show every red.
      await assertPixel(bytes, 15, 10, palette.red, name === "cmyk" ? 60 : 16);
    }
  }
});

test("the fallback is PNG for a source with alpha and JPEG for any other", async () => {
  const glass = await render(await solid(40, 40, palette.red, 0.5).webp().toBuffer(), {
    width: 20,
    format: "fallback",
  });
  assert.deepEqual([glass.format, glass.contentType], ["png", "image/png"]);
  const opaque = await render(await solid(40, 40, palette.red).webp().toBuffer(), {
    width: 20,
    format: "fallback",
  });
  assert.deepEqual([opaque.format, opaque.contentType], ["jpeg", "image/jpeg"]);
});

test("quality is followed by the lossy formats and ignored by PNG", async () => {
  const source = await noise(200, 200, 1).png().toBuffer();
  for (const format of ["jpeg", "webp", "avif"] as const) {
    const sizes: number[] = [];
    for (const quality of [10, 60, 85, 100]) {
      sizes.push((await render(source, { width: 150, quality, format })).bytes.length);
    }
    assert.deepEqual(
      sizes,
      [...new Set(sizes)].sort((a, b) => a - b),
      format,
    );
  }
  const [poor, rich] = [
    await render(source, { width: 150, quality: 1, format: "png" }),
    await render(source, { width: 150, quality: 100, format: "png" }),
  ];
  assert.deepEqual(poor.bytes, rich.bytes);
});
