export const fitModes = ["scale-down", "contain", "cover", "crop", "pad"] as const;
export const recipeFormats = ["auto", "avif", "webp", "jpeg", "png"] as const;

/** The largest side that may be asked for, and the largest side a variant ever has (spec §8). */
export const maxSidePx = 4096;

export type FitMode = (typeof fitModes)[number];
export type RecipeFormat = (typeof recipeFormats)[number];

/** What a variant is made of. At least one side is given; an absent side follows the aspect ratio. */
export interface Recipe {
  width?: number;
  height?: number;
  fit: FitMode;
  quality: number;
  format: RecipeFormat;
}

const recipePattern = new RegExp(
  `^(?:w_(\\d{1,4}),)?(?:h_(\\d{1,4}),)?fit_(${fitModes.join("|")}),q_(\\d{1,3}),f_(${recipeFormats.join("|")})$`,
);

/** The one spelling of a recipe, as it stands in variant URLs (spec §4.8 r5). */
export function formatRecipe({ width, height, fit, quality, format }: Recipe): string {
  const sides = [width === undefined ? "" : `w_${width},`, height === undefined ? "" : `h_${height},`];
  return `${sides.join("")}fit_${fit},q_${quality},f_${format}`;
}

/** Null for anything but canonical text: one variant must never be reachable under two names. */
export function parseRecipe(text: string): Recipe | null {
  const match = recipePattern.exec(text);
  if (match === null) return null;
  const [, width, height, fit, quality, format] = match;
  const recipe: Recipe = {
    ...(width === undefined ? {} : { width: Number(width) }),
    ...(height === undefined ? {} : { height: Number(height) }),
    fit: fit as FitMode,
    quality: Number(quality),
    format: format as RecipeFormat,
  };
  return isInRange(recipe) && formatRecipe(recipe) === text ? recipe : null;
}

function isInRange({ width, height, quality }: Recipe): boolean {
  const sides = [width, height].filter((side) => side !== undefined);
  return (
    sides.length > 0 &&
    sides.every((side) => side >= 1 && side <= maxSidePx) &&
    quality >= 1 &&
    quality <= 100
  );
}
