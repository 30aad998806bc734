import type { Recipe } from "../../src/serving/images/recipe.ts";
import { signUrl } from "../../src/serving/images/transform-image.ts";
import { openVariantSigner } from "../../src/serving/images/transforms.ts";
import type { TestApp } from "./start-app.ts";

/** The public URL of a variant that the API would refuse to make, as an earlier version may have given it out. */
export async function signVariant(app: TestApp, key: string, ask: Partial<Recipe>): Promise<string> {
  const { deps } = app.app;
  const recipe: Recipe = { fit: "scale-down", quality: 85, format: "auto", ...ask };
  const wanted = { now: deps.now(), file: { key }, recipe, delivery: "public", mark: null } as const;
  return signUrl(deps.config, await openVariantSigner(deps), wanted).url;
}
