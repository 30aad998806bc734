import type { SmallImage } from "../../../src/serving/images/render/facts/thumbhash.ts";

/** Whole numbers below 2^32, the same on every machine. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** A small image of any shape: flat, a gradient, fields, noise or a mix; opaque, translucent, cut out or empty. */
export function createSeededImage(seed: number): SmallImage {
  const random = createRandom(seed);
  const below = (most: number) => random() % most;
  const width = 1 + below(100);
  const height = 1 + below(100);
  const [from, to, third] = Array.from({ length: 4 }, () => [below(256), below(256), below(256), below(256)]);
  const pattern = patterns[seed % 5] ?? (() => 0);
  const opacity = Math.floor(seed / 5) % 4;
  const field = 1 + below(20);
  const rgba = new Uint8Array(4 * width * height);
  for (let at = 0; at < rgba.length; at++) {
    const channel = at % 4;
    const x = Math.floor(at / 4) % width;
    const y = Math.floor(at / 4 / width);
    const [a = 0, b = 0, c = 0] = [from?.[channel], to?.[channel], third?.[channel]];
    const step = Math.floor((255 * (x + y)) / (width + height));
    const isOdd = (Math.floor(x / field) + Math.floor(y / field)) % 2 === 1;
    const value = pattern({
      a,
      b,
      c,
      isOdd,
      noise: below(256),
      gradient: a + Math.floor(((b - a) * step) / 255),
    });
    const alphas = [255, value, isOdd ? 255 : 0, seed % 3 === 0 ? 0 : 255];
    rgba[at] = channel === 3 ? (alphas[opacity] ?? 255) : value;
  }
  return { width, height, rgba };
}

type Pattern = (at: Record<"a" | "b" | "c" | "noise" | "gradient", number> & { isOdd: boolean }) => number;
const patterns: Pattern[] = [
  ({ a }) => a,
  ({ gradient }) => gradient,
  ({ isOdd, a, b }) => (isOdd ? a : b),
  ({ noise }) => noise,
  ({ isOdd, gradient, c }) => (isOdd ? gradient : c),
];
