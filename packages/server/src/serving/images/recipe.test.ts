import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fitModes, formatRecipe, parseRecipe, type Recipe, recipeFormats } from "./recipe.ts";

const side = fc.integer({ min: 1, max: 4096 });
const rest = {
  fit: fc.constantFrom(...fitModes),
  quality: fc.integer({ min: 1, max: 100 }),
  format: fc.constantFrom(...recipeFormats),
};
const plain = { noNullPrototype: true } as const;
const anyRecipe: fc.Arbitrary<Recipe> = fc.oneof(
  fc.record({ width: side, height: side, ...rest }, plain),
  fc.record({ width: side, ...rest }, plain),
  fc.record({ height: side, ...rest }, plain),
);

test("writes the sides that were asked for, in order", () => {
  const recipe = { fit: "cover", quality: 85, format: "auto" } as const;
  assert.equal(formatRecipe({ ...recipe, width: 400, height: 300 }), "w_400,h_300,fit_cover,q_85,f_auto");
  assert.equal(formatRecipe({ ...recipe, width: 400 }), "w_400,fit_cover,q_85,f_auto");
  assert.equal(formatRecipe({ ...recipe, height: 300 }), "h_300,fit_cover,q_85,f_auto");
});

test("every recipe survives the round trip", () => {
  fc.assert(fc.property(anyRecipe, (recipe) => assert.deepEqual(parseRecipe(formatRecipe(recipe)), recipe)));
});

test("whatever parses is spelled canonically", () => {
  const nearMiss = fc
    .tuple(anyRecipe, fc.nat(), fc.constantFrom("0", ",", "_", " ", "w", "1", "\n", "%", ""), fc.boolean())
    .map(([recipe, at, piece, replace]) => {
      const text = formatRecipe(recipe);
      const position = at % (text.length + 1);
      return text.slice(0, position) + piece + text.slice(position + (replace ? 1 : 0));
    });
  fc.assert(
    fc.property(nearMiss, (text) => {
      const recipe = parseRecipe(text);
      if (recipe !== null) assert.equal(formatRecipe(recipe), text);
    }),
    { numRuns: 500 },
  );
});

const refused = [
  "",
  "fit_cover,q_85,f_auto",
  "w_0400,fit_cover,q_85,f_auto",
  "w_0,fit_cover,q_85,f_auto",
  "w_4097,fit_cover,q_85,f_auto",
  "w_400,h_0,fit_cover,q_85,f_auto",
  "h_300,w_400,fit_cover,q_85,f_auto",
  "w_400,q_85,fit_cover,f_auto",
  "w_400,fit_cover,q_0,f_auto",
  "w_400,fit_cover,q_101,f_auto",
  "w_400,fit_cover,q_085,f_auto",
  "w_400,fit_fill,q_85,f_auto",
  "w_400,fit_cover,q_85,f_gif",
  "w_400,fit_cover,q_85,f_auto\n",
  " w_400,fit_cover,q_85,f_auto",
  "w_400,fit_cover,q_85",
  "W_400,fit_cover,q_85,f_auto",
  "w_400%2Cfit_cover,q_85,f_auto",
  "w_-4,fit_cover,q_85,f_auto",
  "w_4e2,fit_cover,q_85,f_auto",
  "w_400,w_400,fit_cover,q_85,f_auto",
];
for (const text of refused) {
  test(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseRecipe(text), null));
}
