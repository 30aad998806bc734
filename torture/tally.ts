export interface Tally {
  counts: Record<string, number>;
  add(what: string, by?: number): void;
}

/** Names that are given at once keep their order in the report, also where nothing is counted. */
export function createTally(...names: string[]): Tally {
  const counts: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  return {
    counts,
    add(what, by = 1) {
      counts[what] = (counts[what] ?? 0) + by;
    },
  };
}
