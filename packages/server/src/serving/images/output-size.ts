import { maxSidePx, type Recipe } from "./recipe.ts";

export interface PixelSize {
  width: number;
  height: number;
}

type SizeRecipe = Pick<Recipe, "width" | "height" | "fit">;

/**
 * The size a variant will have, given the source's size after its orientation was applied.
 *
 * A side that was not asked for is bounded by the largest side there is: a source of 2000×1 asked for
 * 400 high would otherwise become 800,000 wide. The image is then made to fit into that bound, except
 * with `cover`, which keeps the side that was asked for and crops the other.
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
