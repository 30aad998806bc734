import type { TransformOptions } from "../wire/transforms.ts";
import { defaultQualities, defaultWidths, variantUrl } from "./image-url.ts";

/** The project's lists, if customised. */
export interface ImageLists {
  widths?: readonly number[] | undefined;
  qualities?: readonly number[] | undefined;
}

/** What image libraries pass: any width and quality, as numbers or text, and their own keywords. */
export interface LooseTransform {
  width?: number | string | undefined;
  height?: number | string | undefined;
  quality?: number | string | undefined;
  format?: string | undefined;
  fit?: string | undefined;
  gravity?: string | undefined;
  background?: string | undefined;
  blur?: number | string | undefined;
  rotate?: number | string | undefined;
}

const formats: Record<string, TransformOptions["format"]> = {
  avif: "avif",
  webp: "webp",
  jpeg: "jpeg",
  jpg: "jpeg",
  png: "png",
};
/** Those of sharp, which many libraries speak, and our own. */
const fits: Record<string, NonNullable<TransformOptions["fit"]>> = {
  cover: "cover",
  fill: "cover",
  outside: "cover",
  contain: "pad",
  inside: "scale-down",
  crop: "crop",
  pad: "pad",
  "scale-down": "scale-down",
};

/**
 * The URL of a variant that the project lists: the next larger width, in the same proportions, and the nearest quality.
 * Null for the addresses of anything but public files.
 */
export function listedUrl(src: string, asked: LooseTransform, lists: ImageLists = {}): string | null {
  const { widths = defaultWidths, qualities = defaultQualities } = lists;
  const [width, height] = [toSide(asked.width), toSide(asked.height)];
  const side = width ?? height ?? Math.max(...widths);
  const listed = pickWidth(widths, side);
  const follows = width === undefined || height === undefined ? undefined : (listed / width) * height;
  const cuts = follows === undefined ? undefined : "cover";
  const background = /^#?([0-9a-f]{6})$/i.exec(asked.background ?? "")?.[1];
  const blur = toSide(asked.blur);
  const rotate = ([90, 180, 270] as const).find((degrees) => degrees === Number(asked.rotate));
  return variantUrl(src, {
    ...(width === undefined && height !== undefined ? { height: listed } : { width: listed }),
    ...(follows === undefined ? {} : { height: Math.min(4096, Math.max(1, Math.round(follows))) }),
    fit: fits[asked.fit ?? ""] ?? cuts,
    quality: pickQuality(qualities, toSide(asked.quality)),
    format: formats[asked.format ?? ""],
    gravity: asked.gravity as TransformOptions["gravity"],
    background,
    blur: blur === undefined ? undefined : Math.min(100, blur),
    rotate,
  });
}

/** `"300"` and `300.4` alike; nothing else is a length. */
function toSide(value: number | string | undefined): number | undefined {
  const side = Math.round(Number(value));
  return side >= 1 ? side : undefined;
}

function pickWidth(widths: readonly number[], wanted: number): number {
  const rising = [...widths].sort((a, b) => a - b);
  return rising.find((width) => width >= wanted) ?? rising.at(-1) ?? wanted;
}

function pickQuality(qualities: readonly number[], wanted: number | undefined): number | undefined {
  if (wanted === undefined) return qualities[0];
  const byDistance = [...qualities].sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted));
  return byDistance[0] ?? wanted;
}
