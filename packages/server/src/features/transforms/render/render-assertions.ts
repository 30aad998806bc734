import assert from "node:assert/strict";
import sharp from "sharp";
import type { Recipe } from "../recipe.ts";
import type { RequestedFormat } from "./render-job.ts";
import { createRenderPool, type RenderResult } from "./render-pool.ts";
import { palette, type Rgb } from "./test-images.ts";

const pool = createRenderPool({
  size: 2,
  queueLimit: 50,
  deadlineMs: 60_000,
  giveUpMs: 90_000,
  maxRssBytes: 1024 ** 3,
  maxJobs: 1000,
});
/** For an `after` hook of every file that renders. */
export const closePool = () => pool.close();

type Asked = Partial<Omit<Recipe, "format">> & { format?: RequestedFormat };
type Rendered = Extract<RenderResult, { ok: true }>;
export const outputFormats = ["jpeg", "png", "webp", "avif"] as const;
export const whitePixel: Rgb = [255, 255, 255];

export function tryRender(
  bytes: Uint8Array,
  { format = "png", fit = "scale-down", quality = 90, ...sides }: Asked,
) {
  return pool.render({ readSource: async () => bytes, recipe: { fit, quality, ...sides }, format });
}

export async function render(bytes: Uint8Array, asked: Asked): Promise<Rendered> {
  const result = await tryRender(bytes, asked);
  assert.ok(result.ok, `refused as ${!result.ok && result.problem}`);
  const { width, height, pageHeight } = await sharp(result.bytes, { animated: true }).metadata();
  assert.deepEqual([result.width, result.height], [width, pageHeight ?? height], "reports its true size");
  return result;
}

export async function assertRefused(bytes: Uint8Array, ...problems: string[]): Promise<void> {
  for (const format of ["jpeg", "webp"] as const) {
    const result = await tryRender(bytes, { width: 50, format });
    assert.ok(
      problems.includes(result.ok ? "none" : result.problem),
      `answered ${result.ok || result.problem}`,
    );
  }
}

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
