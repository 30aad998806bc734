import assert from "node:assert/strict";
import { test } from "node:test";
import { FIT_MODES, GRAVITIES, ROTATIONS, VARIANT_FORMATS } from "@upstow/contract";
import fc from "fast-check";
import { fitModes, formatRecipe, gravities, parseRecipe, type Recipe, recipeFormats } from "./recipe.ts";
import { variantId } from "./variant-signature.ts";

const side = fc.integer({ min: 1, max: 4096 });
const rest = {
  fit: fc.constantFrom(...fitModes),
  quality: fc.integer({ min: 1, max: 100 }),
  format: fc.constantFrom(...recipeFormats),
};
const plain = { noNullPrototype: true } as const;
const extras = fc.record(
  {
    gravity: fc.constantFrom(...gravities),
    background: fc.stringMatching(/^[0-9a-f]{6}$/),
    blur: fc.integer({ min: 1, max: 100 }),
    rotate: fc.constantFrom(...ROTATIONS),
  },
  { requiredKeys: [], ...plain },
);
const oldRecipe: fc.Arbitrary<Recipe> = fc.oneof(
  fc.record({ width: side, height: side, ...rest }, plain),
  fc.record({ width: side, ...rest }, plain),
  fc.record({ height: side, ...rest }, plain),
);
const anyRecipe: fc.Arbitrary<Recipe> = fc
  .tuple(oldRecipe, extras)
  .map(([old, more]) => ({ ...old, ...more }));

test("knows what the contract names", () => {
  assert.deepEqual([fitModes, recipeFormats, gravities], [FIT_MODES, VARIANT_FORMATS, GRAVITIES]);
});

test("writes later fields behind the first ones, in a fixed order", () => {
  const recipe = { width: 9, fit: "crop", quality: 1, format: "png" } as const;
  const all = { rotate: 90, blur: 7, background: "00ff00", gravity: "sw", ...recipe } as const;
  assert.equal(formatRecipe(all), "w_9,fit_crop,q_1,f_png,g_sw,bg_00ff00,blur_7,rot_90");
  assert.equal(formatRecipe({ ...recipe, rotate: 180 }), "w_9,fit_crop,q_1,f_png,rot_180");
  for (const text of [
    "w_9,fit_crop,q_1,f_png,rot_90,blur_7",
    "w_9,fit_crop,q_1,f_png,bg_00FF00",
    "w_9,fit_crop,q_1,f_png,blur_0",
    "w_9,fit_crop,q_1,f_png,blur_101",
    "w_9,fit_crop,q_1,f_png,rot_0",
    "w_9,fit_crop,q_1,f_png,",
  ])
    assert.equal(parseRecipe(text), null, text);
});

test("keeps the ids of variants from before the later fields", () => {
  const recipe = { width: 400, height: 300, fit: "cover", quality: 85, format: "auto" } as const;
  const old = "71339981";
  assert.equal(variantId("file", recipe, "webp").slice(0, 8), old);
  assert.equal(variantId("file", recipe, "webp", "0.5,0.5").slice(0, 8), old);
  const focused = { ...recipe, gravity: "focus" } as const;
  const ids = [
    variantId("file", { ...recipe, gravity: "n" }, "webp", "0.5,0.5"),
    variantId("file", { ...recipe, gravity: "n" }, "webp"),
    variantId("file", focused, "webp"),
    variantId("file", focused, "webp", "0.5,0.5"),
    variantId("file", focused, "webp", "0.5,0.6"),
    variantId("file", { ...recipe, blur: 1 }, "webp"),
    variantId("file", recipe, "webp"),
  ];
  assert.equal(ids[0], ids[1]);
  assert.equal(new Set(ids).size, ids.length - 1);
});

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
