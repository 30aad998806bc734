import type { Random } from "../random.ts";

export interface Choice extends Random {
  pick<T>(from: readonly T[]): T;
}

export function createChoice(random: Random): Choice {
  return {
    ...random,
    pick<T>(from: readonly T[]): T {
      const picked = from[random.int(0, from.length - 1)];
      if (picked === undefined && from.length === 0) throw new Error("there is nothing to pick from");
      return picked as T;
    },
  };
}
