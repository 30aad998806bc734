import sharp from "sharp";
import { maxPixels, type RenderProblem } from "../render-job.ts";
import { readExif } from "./exif.ts";
import type { ImageFacts } from "./image-facts.ts";
import { createThumbHash, type SmallImage } from "./thumbhash.ts";

export type FactsResult = { ok: true; facts: ImageFacts } | { ok: false; problem: RenderProblem };

/** The largest side of what colours and placeholder are computed from. */
const smallSidePx = 100;

/** Only for a process that may be killed at any time, because decoders process hostile bytes here. */
export async function findFacts(bytes: Buffer, keepsLocation: boolean): Promise<FactsResult> {
  try {
    return await readFacts(bytes, keepsLocation);
  } catch {
    return { ok: false, problem: "unprocessable" };
  }
}

async function readFacts(bytes: Buffer, keepsLocation: boolean): Promise<FactsResult> {
  const source = await sharp(bytes, { limitInputPixels: false }).metadata();
  if (source.format === "heif" && source.compression !== "av1") return { ok: false, problem: "unsupported" };
  // Of the first frame, the only one that is decoded.
  if (source.width * source.height > maxPixels) return { ok: false, problem: "too-large" };
  const { data, info } = await sharp(bytes, { limitInputPixels: maxPixels })
    .autoOrient()
    .resize({ width: smallSidePx, height: smallSidePx, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb")
    .ensureAlpha()
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const small = { width: info.width, height: info.height, rgba: data };
  const { location, ...shot } = source.exif === undefined ? {} : readExif(source.exif);
  return {
    ok: true,
    facts: {
      width: source.autoOrient.width,
      height: source.autoOrient.height,
      orientation: source.orientation ?? 1,
      frames: source.pages ?? 1,
      hasAlpha: source.hasAlpha,
      dominantColor: findDominantColor(small),
      thumbhash: Buffer.from(createThumbHash(small)).toString("base64"),
      ...shot,
      ...(keepsLocation && location !== undefined ? { location } : {}),
    },
  };
}

/** Shades per channel that count as one colour. */
const shadeBits = 4;
const shift = 8 - shadeBits;

/** The mean of the most frequent colours, transparent pixels left out. */
export function findDominantColor({ width, height, rgba }: SmallImage): string {
  const sums = new Float64Array(4 << (3 * shadeBits));
  let most = 0;
  for (let at = 0; at < 4 * width * height; at += 4) {
    const red = rgba[at] ?? 0;
    const green = rgba[at + 1] ?? 0;
    const blue = rgba[at + 2] ?? 0;
    const alpha = rgba[at + 3] ?? 0;
    const bin = 4 * ((((red >> shift) << shadeBits) | (green >> shift)) * 2 ** shadeBits + (blue >> shift));
    sums[bin] = (sums[bin] ?? 0) + red * alpha;
    sums[bin + 1] = (sums[bin + 1] ?? 0) + green * alpha;
    sums[bin + 2] = (sums[bin + 2] ?? 0) + blue * alpha;
    sums[bin + 3] = (sums[bin + 3] ?? 0) + alpha;
    if ((sums[bin + 3] ?? 0) > (sums[most + 3] ?? 0)) most = bin;
  }
  const weight = sums[most + 3] || 1;
  const mean = [...sums.subarray(most, most + 3)].map((sum) => Math.round(sum / weight));
  return `#${Buffer.from(mean).toString("hex")}`;
}
