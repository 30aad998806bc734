import assert from "node:assert/strict";
import sharp from "sharp";
import { palette, type Rgb } from "./test-images.ts";

export const whitePixel: Rgb = [255, 255, 255];

/** Compares one pixel, as a browser would show it on white, with some room for lossy encoders. */
export async function assertPixel(bytes: Uint8Array, x: number, y: number, expected: Rgb, tolerance = 24) {
  const { data, info } = await sharp(bytes)
    .flatten({ background: "#fff" })
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  const offset = (y * info.width + x) * info.channels;
  const actual = [...data.subarray(offset, offset + 3)];
  const distance = Math.max(...actual.map((value, channel) => Math.abs(value - (expected[channel] ?? 0))));
  assert.ok(distance <= tolerance, `pixel ${x},${y} is ${actual}, not ${expected}`);
}

export async function assertUpright(bytes: Uint8Array, width: number, height: number) {
  const [left, right, top, bottom] = [0.25, 0.75, 0.25, 0.75];
  const at = (portion: number, side: number) => Math.floor(portion * side);
  await assertPixel(bytes, at(left, width), at(top, height), palette.red);
  await assertPixel(bytes, at(right, width), at(top, height), palette.green);
  await assertPixel(bytes, at(left, width), at(bottom, height), palette.blue);
  await assertPixel(bytes, at(right, width), at(bottom, height), palette.yellow);
}
