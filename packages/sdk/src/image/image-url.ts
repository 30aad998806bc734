import type { TransformOptions } from "../wire/transforms.ts";

/** Widths that projects serve without a signature unless they list others: those that next/image asks for. */
export const defaultWidths: readonly number[] = [
  16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840,
];
export const defaultQuality = 75;
export const defaultQualities: readonly number[] = [defaultQuality, 85];

/** The address of a file's bytes, whose key begins with the project's id. */
const fileUrl = /^(.*)\/f\/([0-9a-z]{26}\/[^?#]+)$/s;

/** What is not wanted may be left out or undefined. */
type Variant = { [Name in keyof TransformOptions]: TransformOptions[Name] | undefined };

/** The URL of a variant of a public file, without a call: a recipe, or the name of a preset. Null for other URLs. */
export function variantUrl(url: string, variant: Variant | string): string | null {
  const [, base, key] = fileUrl.exec(url) ?? [];
  if (base === undefined) return null;
  return `${base}/i/${typeof variant === "string" ? variant : toRecipe(variant)}/${key}`;
}

/** Fields in the one order that the service accepts. */
function toRecipe(options: Variant): string {
  const { width, height, fit = "scale-down", quality = defaultQuality, format = "auto" } = options;
  const { gravity, background, blur, rotate } = options;
  const fields = {
    w: width,
    h: height,
    fit,
    q: quality,
    f: format,
    g: gravity,
    bg: background?.toLowerCase(),
    blur,
    rot: rotate,
  };
  return Object.entries(fields)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}_${value}`]))
    .join();
}
