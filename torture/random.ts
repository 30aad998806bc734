export interface Random {
  /** From `least` up to and including `most`. */
  int(least: number, most: number): number;
  chance(probability: number): boolean;
}

/** The same seed makes the same choices (mulberry32). What the kernel does in between stays its own affair. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    int: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
  };
}
