import type { TransformOptions } from "../wire/transforms.ts";

/** Widths that projects serve without a signature by default: those that next/image requests. */
export const defaultWidths: readonly number[] = [
  16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840,
];
export const defaultQuality = 75;
export const defaultQualities: readonly number[] = [defaultQuality, 85];

/** The address of a file's bytes, whose key begins with the project's id. */
const fileUrl = /^(.*)\/f\/([0-9a-z]{26}\/[^?#]+)$/s;

/** Options may be omitted or undefined. */
type Variant = { [Name in keyof TransformOptions]: TransformOptions[Name] | undefined };

/** The URL of a variant of a public file, without a call: a recipe, or the name of a preset. Null for other URLs. */
export function variantUrl(url: string, variant: Variant | string): string | null {
  const match = fileUrl.exec(url);
  return match && `${match[1]}/i/${typeof variant === "object" ? toRecipe(variant) : variant}/${match[2]}`;
}

/** Fields in the one order that the service accepts. */
function toRecipe(options: Variant): string {
  const {
    width: w,
    height: h,
    fit = "scale-down",
    quality: q = defaultQuality,
    format: f = "auto",
  } = options;
  const { gravity: g, background, blur, rotate: rot } = options;
  return Object.entries({ w, h, fit, q, f, g, bg: background?.toLowerCase(), blur, rot })
    .filter((field) => field[1] !== undefined)
    .map((field) => field.join("_"))
    .join();
}
