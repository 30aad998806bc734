import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type FitMode, fitModes } from "./recipe.ts";
import { computeOutputSize } from "./render/render-image.ts";

const cases: [fit: FitMode, source: string, asked: string, expected: string][] = [
  ["scale-down", "1000x600", "400x400", "400x240"],
  ["scale-down", "200x120", "400x400", "200x120"],
  ["scale-down", "1000x120", "400x400", "400x48"],
  ["contain", "1000x600", "400x400", "400x240"],
  ["contain", "200x120", "400x400", "400x240"],
  ["contain", "1000x120", "400x400", "400x48"],
  ["cover", "1000x600", "400x400", "400x400"],
  ["cover", "200x120", "400x400", "400x400"],
  ["cover", "1000x120", "400x400", "400x400"],
  ["crop", "1000x600", "400x400", "400x400"],
  ["crop", "200x120", "400x400", "200x120"],
  ["crop", "1000x120", "400x400", "400x120"],
  ["pad", "1000x600", "400x400", "400x400"],
  ["pad", "200x120", "400x400", "400x400"],
  ["pad", "1000x120", "400x400", "400x400"],

  ["scale-down", "1000x600", "400x", "400x240"],
  ["scale-down", "200x120", "400x", "200x120"],
  ["contain", "200x120", "x240", "400x240"],
  ["cover", "200x120", "400x", "400x240"],
  ["pad", "200x120", "400x", "400x240"],
  ["crop", "200x120", "400x", "200x120"],
  ["crop", "1000x600", "x300", "500x300"],

  ["contain", "2000x1", "x4096", "4096x2"],
  ["pad", "2000x1", "x4096", "4096x2"],
  ["cover", "2000x1", "x4096", "4096x4096"],
  ["cover", "1x2000", "400x", "400x4096"],
  ["contain", "2000x1", "400x", "400x1"],
  ["scale-down", "9000x3000", "x3000", "4096x1365"],
  ["cover", "1x1", "4096x4096", "4096x4096"],
];

for (const [fit, source, asked, expected] of cases) {
  test(`${fit} ${source} → ${asked} gives ${expected}`, () => {
    const [sourceWidth, sourceHeight] = source.split("x").map(Number);
    const [width, height] = asked.split("x");
    const size = computeOutputSize(
      { width: Number(sourceWidth), height: Number(sourceHeight) },
      { fit, ...(width ? { width: Number(width) } : {}), ...(height ? { height: Number(height) } : {}) },
    );
    assert.equal(`${size.width}x${size.height}`, expected);
  });
}

test("every side is a whole number from 1 to 4096 and no larger than asked for", () => {
  const source = fc.record({
    width: fc.integer({ min: 1, max: 65_535 }),
    height: fc.integer({ min: 1, max: 65_535 }),
  });
  const side = fc.option(fc.integer({ min: 1, max: 4096 }), { nil: undefined });
  fc.assert(
    fc.property(source, side, side, fc.constantFrom(...fitModes), (size, width, height, fit) => {
      fc.pre(width !== undefined || height !== undefined);
      const asked = { fit, ...(width ? { width } : {}), ...(height ? { height } : {}) };
      const output = computeOutputSize(size, asked);
      for (const [sidePx, limitPx] of [
        [output.width, width ?? 4096],
        [output.height, height ?? 4096],
      ] as const) {
        assert.ok(Number.isInteger(sidePx) && sidePx >= 1 && sidePx <= limitPx, JSON.stringify(output));
      }
    }),
  );
});
