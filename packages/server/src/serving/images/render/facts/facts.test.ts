import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import sharp, { type Sharp } from "sharp";
import { createSeededImage } from "../../../../../test/support/render/seeded-images.ts";
import { readExif } from "./exif.ts";
import { findDominantColor, findFacts } from "./find-facts.ts";
import { readFacts } from "./image-facts.ts";
import { createThumbHash } from "./thumbhash.ts";

// Runs in this process, with pictures of our own.

/** What thumbhash 0.1.1 from npm made of the same 500 images. */
const reference: string[] = JSON.parse(
  readFileSync(
    new URL("../../../../../test/support/render/thumbhash-reference.json", import.meta.url),
    "utf8",
  ),
);

test("the placeholder of 500 images is the reference's, byte for byte", () => {
  assert.equal(reference.length, 500);
  assert.ok(new Set(reference).size > 450);
  for (const [seed, expected] of reference.entries()) {
    const hash = Buffer.from(createThumbHash(createSeededImage(seed))).toString("base64");
    assert.equal(hash, expected, `image ${seed}`);
  }
});

/** Red, green, blue and white, each a quarter, and a little wider than high. */
const picture = sharp(Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]), {
  raw: { width: 2, height: 2, channels: 3 },
}).resize(120, 80, { kernel: "nearest", fit: "fill" });

async function factsOf(bytes: Buffer, keepsLocation = false) {
  const found = await findFacts(bytes, keepsLocation);
  assert.ok(found.ok, JSON.stringify(found));
  // As it comes through the channel.
  assert.deepEqual(readFacts(JSON.parse(JSON.stringify(found.facts))), found.facts);
  return found.facts;
}

/** How a camera stores what is upright only after this orientation was applied. */
const stored: ((upright: Sharp) => Sharp)[] = [
  (image) => image,
  (image) => image.flop(),
  (image) => image.rotate(180),
  (image) => image.flip(),
  (image) => image.rotate(270).flop(),
  (image) => image.rotate(270),
  (image) => image.rotate(90).flop(),
  (image) => image.rotate(90),
];

test("size, colours and placeholder are those seen upright, in each of the eight orientations", async () => {
  const plain = await picture.clone().png().toBuffer();
  const upright = await factsOf(plain);
  assert.deepEqual([upright.width, upright.height, upright.orientation], [120, 80, 1]);
  for (const [index, turn] of stored.entries()) {
    const orientation = index + 1;
    // Two steps, so that the turn is done before it is written down.
    const turned = await turn(sharp(plain)).png().toBuffer();
    const bytes = await sharp(turned).withMetadata({ orientation }).png().toBuffer();
    assert.deepEqual(await factsOf(bytes), { ...upright, orientation }, `orientation ${orientation}`);
  }
});

test("formats, frames and transparency", async () => {
  for (const format of ["jpeg", "png", "webp", "gif", "avif"] as const) {
    const facts = await factsOf(await picture.clone().toFormat(format).toBuffer());
    assert.deepEqual([facts.width, facts.height, facts.frames], [120, 80, 1], format);
  }
  const frame = (color: string) =>
    sharp({ create: { width: 30, height: 20, channels: 4, background: color } })
      .png()
      .toBuffer();
  const film = sharp(await Promise.all(["#f00", "#0f0", "#00f"].map(frame)), { join: { animated: true } });
  const gif = await factsOf(await film.gif().toBuffer());
  assert.deepEqual([gif.width, gif.height, gif.frames, gif.dominantColor], [30, 20, 3, "#ff0000"]);
  const clear = await factsOf(await frame("#3060907f"));
  assert.deepEqual([clear.hasAlpha, clear.dominantColor], [true, "#306090"]);
  assert.equal(
    (await factsOf(await picture.clone().toColourspace("cmyk").jpeg().toBuffer())).hasAlpha,
    false,
  );
  assert.equal((await factsOf(await picture.clone().toColourspace("rgb16").png().toBuffer())).width, 120);
});

test("the most frequent colour counts, and what cannot be seen does not", () => {
  const pixels = (...colours: number[][]) => ({
    width: colours.length,
    height: 1,
    rgba: Uint8Array.from(colours.flat()),
  });
  const [red, blue, gone] = [
    [200, 10, 10, 255],
    [10, 10, 200, 255],
    [0, 255, 0, 0],
  ];
  assert.equal(findDominantColor(pixels(red, blue, blue)), "#0a0ac8");
  assert.equal(findDominantColor(pixels(gone, gone, red)), "#c80a0a");
  assert.equal(findDominantColor(pixels([200, 10, 10, 255], [204, 10, 10, 255])), "#ca0a0a");
  assert.match(findDominantColor(pixels(gone)), /^#[0-9a-f]{6}$/);
});

const exif = {
  IFD0: { Make: "Canon", Model: "Canon EOS R5" },
  IFD2: { DateTimeOriginal: "2026:02:28 12:34:56", OffsetTimeOriginal: "+02:00" },
  IFD3: {
    GPSLatitudeRef: "S",
    GPSLatitude: "52/1 30/1 36/1",
    GPSLongitudeRef: "E",
    GPSLongitude: "13/1 24/1 0/1",
  },
};

test("date, camera and, only where it is kept, the place", async () => {
  for (const format of ["jpeg", "png", "webp", "avif"] as const) {
    const bytes = await picture.clone().withExif(exif).toFormat(format).toBuffer();
    const { takenAt, camera, location } = await factsOf(bytes, true);
    assert.deepEqual(
      { takenAt, camera, location },
      {
        takenAt: "2026-02-28T12:34:56+02:00",
        camera: "Canon EOS R5",
        location: { latitude: -52.51, longitude: 13.4 },
      },
      format,
    );
    assert.equal("location" in (await factsOf(bytes)), false);
  }
});

test("values that no camera would write are left out", async () => {
  const read = async (change: object) => {
    const bytes = await picture
      .clone()
      .withExif({ ...exif, ...change })
      .jpeg()
      .toBuffer();
    const { takenAt, camera, location } = await factsOf(bytes, true);
    return { takenAt, camera, location };
  };
  const shot = (text: string, offset = "") => ({
    IFD2: { DateTimeOriginal: text, ...(offset && { OffsetTimeOriginal: offset }) },
  });
  assert.equal((await read(shot("2026:02:28 12:34:56"))).takenAt, "2026-02-28T12:34:56");
  assert.equal((await read(shot("2026:02:28 12:34:56", "+99:00"))).takenAt, "2026-02-28T12:34:56");
  for (const text of [
    "2026:02:30 12:34:56",
    "0000:00:00 00:00:00",
    "2026-02-28 12:34:56",
    "    :  :     :  :  ",
  ])
    assert.equal((await read(shot(text))).takenAt, undefined, text);
  assert.equal((await read({ IFD0: { Make: "NIKON CORPORATION", Model: "NIKON D90" } })).camera, "NIKON D90");
  assert.equal((await read({ IFD0: { Make: "Apple", Model: "iPhone 17" } })).camera, "Apple iPhone 17");
  assert.equal((await read({ IFD0: { Make: "<b>\u0007x", Model: "m".repeat(400) } })).camera?.length, 100);
  for (const place of [
    { ...exif.IFD3, GPSLatitude: "91/1 0/1 0/1" },
    { ...exif.IFD3, GPSLatitude: "1/0 0/1 0/1" },
    { ...exif.IFD3, GPSLongitudeRef: "X" },
    { GPSLatitude: "52/1 30/1 36/1", GPSLatitudeRef: "N" },
  ])
    assert.equal((await read({ IFD3: place })).location, undefined, JSON.stringify(place));
});

test("no EXIF block makes the reader throw, read beyond it or loop", async () => {
  const { exif: block = Buffer.alloc(0) } = await sharp(
    await picture.clone().withExif(exif).jpeg().toBuffer(),
  ).metadata();
  assert.equal(readExif(block).camera, "Canon EOS R5");
  const isSound = (bytes: Uint8Array) => {
    const facts = readExif(bytes);
    assert.ok((facts.camera ?? "").length <= 200);
    assert.match(facts.takenAt ?? "2026-01-01T00:00:00", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:\d\d)?$/);
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), isSound));
  const damage = fc.array(fc.tuple(fc.nat(block.length - 1), fc.integer({ min: 0, max: 255 })), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(damage, fc.nat(block.length), (changes, length) => {
      const bytes = Buffer.from(block);
      for (const [at, value] of changes) bytes[at] = value;
      isSound(bytes.subarray(0, length));
    }),
    { numRuns: 2_000 },
  );
});

test("what is no readable image has no facts", async () => {
  const whole = await picture.clone().jpeg().toBuffer();
  for (const bytes of [whole.subarray(0, 400), Buffer.from("text"), Buffer.alloc(0)])
    assert.equal((await findFacts(bytes, false)).ok, false);
  const huge = await sharp({ create: { width: 10_000, height: 5_001, channels: 3, background: "#000" } })
    .png()
    .toBuffer();
  assert.deepEqual(await findFacts(huge, false), { ok: false, problem: "too-large" });
});

test("a worker's facts are taken only if they could be facts", () => {
  const sound = {
    width: 1,
    height: 1,
    orientation: 1,
    frames: 1,
    hasAlpha: false,
    dominantColor: "#000000",
    thumbhash: "AAAAAAA=",
  };
  assert.deepEqual(readFacts({ ...sound, more: "dropped" }), sound);
  for (const wrong of [
    { width: 0 },
    { height: 1.5 },
    { width: "1" },
    { orientation: 9 },
    { frames: -1 },
    { hasAlpha: 1 },
    { dominantColor: "red" },
    { dominantColor: "#000000\n<script>" },
    { thumbhash: "<b>" },
    { thumbhash: "A".repeat(100) },
    { takenAt: "now" },
    { camera: "" },
    { camera: "a\nb" },
    { camera: "x".repeat(101) },
    { location: { latitude: 91, longitude: 0 } },
    { location: { latitude: 0 } },
  ])
    assert.equal(readFacts({ ...sound, ...wrong }), null, JSON.stringify(wrong));
});
