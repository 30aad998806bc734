export const fitModes = ["scale-down", "contain", "cover", "crop", "pad"] as const;
export const recipeFormats = ["auto", "avif", "webp", "jpeg", "png"] as const;

/** Which part of an image stays in view when it is cut, and where it stands in its padding. */
export const gravities = [
  "attention",
  "entropy",
  "focus",
  "n",
  "ne",
  "e",
  "se",
  "s",
  "sw",
  "w",
  "nw",
] as const;

/** The largest side that may be requested, and the largest side a variant ever has (spec §8). */
export const maxSidePx = 4096;

export type FitMode = (typeof fitModes)[number];
export type RecipeFormat = (typeof recipeFormats)[number];
export type Gravity = (typeof gravities)[number];
export type Rotation = 90 | 180 | 270;

/** How a variant is made. At least one side is given; an absent side follows the aspect ratio. */
export interface Recipe {
  width?: number;
  height?: number;
  fit: FitMode;
  quality: number;
  format: RecipeFormat;
  gravity?: Gravity;
  /** As `rrggbb`. */
  background?: string;
  blur?: number;
  /** Clockwise, before it is resized. */
  rotate?: Rotation;
}

const recipePattern = new RegExp(
  `^(?:w_(\\d{1,4}),)?(?:h_(\\d{1,4}),)?fit_(${fitModes.join("|")}),q_(\\d{1,3}),f_(${recipeFormats.join("|")})` +
    `(?:,g_(${gravities.join("|")}))?(?:,bg_([0-9a-f]{6}))?(?:,blur_(\\d{1,3}))?(?:,rot_(90|180|270))?$`,
);

/** The canonical form of a recipe in variant URLs (spec §4.8 r5). Later fields are only written where they are set. */
export function formatRecipe(recipe: Recipe): string {
  const { width, height, fit, quality, format } = recipe;
  const sides = [width === undefined ? "" : `w_${width},`, height === undefined ? "" : `h_${height},`];
  return `${sides.join("")}${[`fit_${fit}`, `q_${quality}`, `f_${format}`, ...listExtras(recipe)].join()}`;
}

/** The fields that came later, in their order. */
export function listExtras({ gravity, background, blur, rotate }: Recipe): string[] {
  const extras: string[] = [];
  if (gravity !== undefined) extras.push(`g_${gravity}`);
  if (background !== undefined) extras.push(`bg_${background}`);
  if (blur !== undefined) extras.push(`blur_${blur}`);
  if (rotate !== undefined) extras.push(`rot_${rotate}`);
  return extras;
}

/** Null for anything but canonical text: a variant must never have two URLs. */
export function parseRecipe(text: string): Recipe | null {
  const match = recipePattern.exec(text);
  if (match === null) return null;
  const [, width, height, fit, quality, format, gravity, background, blur, rotate] = match;
  const recipe: Recipe = {
    ...(width === undefined ? {} : { width: Number(width) }),
    ...(height === undefined ? {} : { height: Number(height) }),
    fit: fit as FitMode,
    quality: Number(quality),
    format: format as RecipeFormat,
    ...(gravity === undefined ? {} : { gravity: gravity as Gravity }),
    ...(background === undefined ? {} : { background }),
    ...(blur === undefined ? {} : { blur: Number(blur) }),
    ...(rotate === undefined ? {} : { rotate: Number(rotate) as Rotation }),
  };
  return isInRange(recipe) && formatRecipe(recipe) === text ? recipe : null;
}

function isInRange({ width, height, quality, blur = 1 }: Recipe): boolean {
  const sides = [width, height].filter((side) => side !== undefined);
  return (
    sides.length > 0 &&
    sides.every((side) => side >= 1 && side <= maxSidePx) &&
    [quality, blur].every((value) => value >= 1 && value <= 100)
  );
}

/** `fallback` is PNG or JPEG; only the renderer knows whether the source has alpha. */
export type NegotiatedFormat = "avif" | "webp" | "fallback";

/**
 * What a client gets for `f_auto`. A format must be named: clients that can show neither send wildcards too.
 * If a header lists a format twice, q=0 wins, because every client can show the fallback.
 */
export function negotiateFormat(accept: string | undefined): NegotiatedFormat {
  const qualities = new Map<string, number>();
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const [type = "", ...params] = range.split(";").map((part) => part.trim());
    qualities.set(type, Math.min(qualities.get(type) ?? 1, readQuality(params)));
  }
  if ((qualities.get("image/avif") ?? 0) > 0) return "avif";
  if ((qualities.get("image/webp") ?? 0) > 0) return "webp";
  return "fallback";
}

function readQuality(params: string[]): number {
  const given = params.find((param) => param.startsWith("q="));
  if (given === undefined) return 1;
  const match = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(given);
  return match === null ? 0 : Number(match[1]);
}
