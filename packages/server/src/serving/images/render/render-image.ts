import sharp, { type Sharp } from "sharp";
import type { FocusPoint } from "../../../files/image-facts.ts";
import { type Gravity, maxSidePx, type Recipe, type Rotation } from "../recipe.ts";
import {
  maxPixels,
  type OutputFormat,
  type RenderedImage,
  type RenderOrder,
  type RenderProblem,
} from "./render-job.ts";

const white = { r: 255, g: 255, b: 255, alpha: 1 };
const transparent = { r: 255, g: 255, b: 255, alpha: 0 };

/**
 * AVIF's effort. For a photo 800 pixels wide, the default of 4 takes 2,900 ms of CPU, 2 takes 370, 1 takes 126 and 0
 * takes 65, while the file grows by 10% from 4 to 2 and by 1% from 2 to 1. An image of 4096×4096 would take longer
 * than any client waits, so large ones use the lowest effort.
 */
const avifEffort = 1;
const largeAvifPixels = 4_000_000;
const largeAvifEffort = 0;

export type ImageResult =
  | { ok: true; image: RenderedImage; bytes: Buffer }
  | { ok: false; problem: RenderProblem };

/** Only for a process that may be killed at any time, because decoders process hostile bytes here. */
export function confineDecoders(): void {
  // Excludes SVG, PDF, TIFF and whatever later versions of libvips can read.
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({
    operation: [
      "VipsForeignLoadJpegBuffer",
      "VipsForeignLoadPngBuffer",
      "VipsForeignLoadWebpBuffer",
      "VipsForeignLoadNsgifBuffer",
      "VipsForeignLoadHeifBuffer",
    ],
  });
  sharp.concurrency(1);
  sharp.cache(false);
}

export async function renderImage(bytes: Buffer, order: RenderOrder): Promise<ImageResult> {
  try {
    return await renderReadable(bytes, order);
  } catch {
    // libvips describes damage in prose only; everything that can be distinguished was checked beforehand.
    return { ok: false, problem: "unprocessable" };
  }
}

async function renderReadable(bytes: Buffer, order: RenderOrder): Promise<ImageResult> {
  // No limit here, to distinguish an oversized image from a broken one; pixels are not decoded.
  const source = await sharp(bytes, { limitInputPixels: false }).metadata();
  if (source.format === "heif" && source.compression !== "av1") return { ok: false, problem: "unsupported" };

  const frames = source.pages ?? 1;
  const format = order.format === "fallback" ? (source.hasAlpha ? "png" : "jpeg") : order.format;
  const isStill = order.rotate !== undefined || order.blur !== undefined;
  // The other encoders write all frames below each other, like a film strip; turning and blurring would mix them.
  const animated = frames > 1 && format === "webp" && source.format !== "heif" && !isStill;
  const seen = turn(animated ? source : source.autoOrient, order.rotate);
  const size = computeOutputSize(seen, order);
  const outputPixels = size.width * size.height * (animated ? frames : 1);
  if (source.width * source.height * frames > maxPixels) return { ok: false, problem: "too-large" };
  if (outputPixels > maxPixels) return { ok: false, problem: "result-too-large" };

  const input = sharp(bytes, { animated, limitInputPixels: maxPixels });
  // libvips cannot rotate frames; browsers also ignore the orientation of an animated WebP.
  const upright = animated ? input : input.autoOrient().rotate(order.rotate ?? 0);
  const resized = resize(upright, order, { source: seen, size, format, animated });
  const blurred = order.blur === undefined ? resized : resized.blur(order.blur);
  const output = encode(blurred, format, order, outputPixels);
  const { data, info } = await output.toBuffer({ resolveWithObject: true });
  return {
    ok: true,
    image: { format, width: info.width, height: info.pageHeight ?? info.height },
    bytes: data,
  };
}

interface Framing {
  /** As seen upright and turned. */
  source: PixelSize;
  size: PixelSize;
  format: OutputFormat;
  animated: boolean;
}

const positions: Record<Exclude<Gravity, "attention" | "entropy" | "focus">, string> = {
  n: "north",
  ne: "northeast",
  e: "east",
  se: "southeast",
  s: "south",
  sw: "southwest",
  w: "west",
  nw: "northwest",
};

function resize(image: Sharp, order: RenderOrder, { source, size, format, animated }: Framing): Sharp {
  const { fit, width, height, gravity, background, focus, rotate } = order;
  if (fit === "pad" && width !== undefined && height !== undefined) {
    // Flattening happens before padding, so JPEG's bars need their own colour.
    const bars = background === undefined ? (format === "jpeg" ? white : transparent) : `#${background}`;
    return image.resize({
      ...size,
      fit: "contain",
      background: bars,
      position: isSide(gravity) ? positions[gravity] : "centre",
    });
  }
  if (fit !== "cover" && fit !== "crop") return image.resize({ ...size, fit: "fill" });
  if (focus !== undefined)
    return image.extract(cutAround(source, size, turnPoint(focus, rotate))).resize({ ...size, fit: "fill" });
  return image.resize({ ...size, fit: "cover", position: positionFor(gravity, animated) });
}

const isSide = (gravity: Gravity | undefined): gravity is keyof typeof positions =>
  gravity !== undefined && Object.hasOwn(positions, gravity);

/** Without a focus point, uses the most striking part. Animations need a fixed place, so that all frames are cut alike. */
function positionFor(gravity: Gravity | undefined, animated: boolean): string {
  if (isSide(gravity)) return positions[gravity];
  if (gravity === undefined || animated) return "centre";
  return gravity === "entropy" ? "entropy" : "attention";
}

/** The largest part of the source in the proportions of `size` that has the point as near to its centre as it can be. */
export function cutAround(source: PixelSize, size: PixelSize, { x, y }: FocusPoint) {
  const scale = Math.min(source.width / size.width, source.height / size.height);
  const [left, width] = cutSide(source.width, size.width * scale, x);
  const [top, height] = cutSide(source.height, size.height * scale, y);
  return { left, top, width, height };
}

function cutSide(sidePx: number, wantedPx: number, at: number): [start: number, length: number] {
  const length = Math.min(sidePx, Math.max(1, Math.round(wantedPx)));
  const start = Math.round(at * sidePx - length / 2);
  return [Math.min(Math.max(start, 0), sidePx - length), length];
}

function turn({ width, height }: PixelSize, rotate: Rotation | undefined): PixelSize {
  return rotate === 90 || rotate === 270 ? { width: height, height: width } : { width, height };
}

function turnPoint({ x, y }: FocusPoint, rotate: Rotation | undefined): FocusPoint {
  if (rotate === undefined) return { x, y };
  return { 90: { x: 1 - y, y: x }, 180: { x: 1 - x, y: 1 - y }, 270: { x: y, y: 1 - x } }[rotate];
}

/** Metadata is dropped and colour is sRGB in 8 bits unless sharp is told otherwise. */
function encode(
  upright: Sharp,
  format: OutputFormat,
  { quality, background }: RenderOrder,
  pixels: number,
): Sharp {
  const image = background === undefined ? upright : upright.flatten({ background: `#${background}` });
  switch (format) {
    case "jpeg":
      return (background === undefined ? image.flatten({ background: white }) : image).jpeg({ quality });
    case "webp":
      // Effort 2 of 6 spends a third less CPU than the default on files 4 % larger.
      return image.webp({ quality, effort: 2 });
    case "avif":
      // AVIF looks the same at a lower quality setting.
      return image.avif({
        quality: quality === 100 ? 100 : Math.round(quality * 0.8),
        effort: pixels > largeAvifPixels ? largeAvifEffort : avifEffort,
      });
    case "png":
      // A quality setting would mean a palette here, at 15 times the CPU.
      return image.png();
  }
}

interface PixelSize {
  width: number;
  height: number;
}

type SizeRecipe = Pick<Recipe, "width" | "height" | "fit">;

/**
 * The size a variant will have, given the source's size after its orientation was applied.
 *
 * A side that was not requested is limited to the maximum side: otherwise a source of 2000×1 requested at a height of 400
 * would become 800,000 wide. The image is then fitted into that limit, except with `cover`, which keeps the requested side
 * and crops the other.
 */
export function computeOutputSize(source: PixelSize, { width, height, fit }: SizeRecipe): PixelSize {
  const box = { width: width ?? maxSidePx, height: height ?? maxSidePx };
  const bothGiven = width !== undefined && height !== undefined;
  switch (fit) {
    case "scale-down":
      return fitInside(source, box, { enlarge: false });
    case "contain":
      return fitInside(source, box, { enlarge: true });
    case "pad":
      return bothGiven ? box : fitInside(source, box, { enlarge: true });
    case "crop":
      return bothGiven ? smallerOf(source, box) : fitInside(source, box, { enlarge: false });
    case "cover":
      return bothGiven ? box : followRequestedSide(source, { width, height });
  }
}

function fitInside(source: PixelSize, box: PixelSize, { enlarge }: { enlarge: boolean }): PixelSize {
  const scale = Math.min(box.width / source.width, box.height / source.height, enlarge ? Infinity : 1);
  return { width: scaleSide(source.width, scale), height: scaleSide(source.height, scale) };
}

function smallerOf(a: PixelSize, b: PixelSize): PixelSize {
  return { width: Math.min(a.width, b.width), height: Math.min(a.height, b.height) };
}

function followRequestedSide(
  source: PixelSize,
  asked: { width: number | undefined; height: number | undefined },
): PixelSize {
  const scale = asked.width === undefined ? (asked.height ?? 1) / source.height : asked.width / source.width;
  return {
    width: asked.width ?? scaleSide(source.width, scale),
    height: asked.height ?? scaleSide(source.height, scale),
  };
}

function scaleSide(sidePx: number, scale: number): number {
  return Math.min(maxSidePx, Math.max(1, Math.round(sidePx * scale)));
}
