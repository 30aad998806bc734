import assert from "node:assert/strict";
import { test } from "node:test";
import { type NegotiatedFormat, negotiateFormat } from "./recipe.ts";

const cases: [accept: string | undefined, expected: NegotiatedFormat][] = [
  ["image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "avif"],
  ["image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5", "avif"],
  [
    "image/webp,image/avif,image/jxl,image/heic,image/heic-sequence,video/*;q=0.8,image/png,*/*;q=0.5",
    "avif",
  ],
  ["image/webp,*/*", "webp"],
  ["image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5", "fallback"],
  ["*/*", "fallback"],
  ["image/*", "fallback"],
  ["", "fallback"],
  [undefined, "fallback"],
  ["image/avif;q=0,image/webp", "webp"],
  ["image/avif;q=0.000, image/webp;q=0", "fallback"],
  ["image/avif;q=0.001", "avif"],
  ["image/webp;q=1, image/avif;q=0.1", "avif"],
  ["IMAGE/AVIF ; Q=0.5", "avif"],
  ["image/webp , image/webp", "webp"],
  ["image/avif, */*, image/avif", "avif"],
  ["image/avif, image/avif;q=0, image/webp", "webp"],
  ["image/avif;q=abc", "fallback"],
  ["image/avif;q=-1", "fallback"],
  ["image/avif;q=1.5", "fallback"],
  ["image/avif;v=1;q=0", "fallback"],
  ["image/avifx,ximage/webp", "fallback"],
  [",;,;q=1,,", "fallback"],
  ["constructor,__proto__", "fallback"],
];

for (const [accept, expected] of cases) {
  test(`Accept: ${accept ?? "(none)"} → ${expected}`, () => assert.equal(negotiateFormat(accept), expected));
}
