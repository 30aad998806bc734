/** The most likely candidate for a misspelt word, or null if none is close. */
export function findNearest(word: string, candidates: readonly string[]): string | null {
  const mostEdits = Math.max(1, Math.floor(word.length / 3));
  let best: { candidate: string; edits: number } | null = null;
  for (const candidate of candidates) {
    const edits = countEdits(word.toLowerCase(), candidate);
    if (edits <= mostEdits && (best === null || edits < best.edits)) best = { candidate, edits };
  }
  return best?.candidate ?? null;
}

export function didYouMean(word: string, candidates: readonly string[]): string {
  const nearest = findNearest(word, candidates);
  return nearest === null ? "" : ` Did you mean ${nearest}?`;
}

/** Counts insertions, deletions, replacements and swaps of neighbours. */
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      let edits = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwap) edits = Math.min(edits, at(beforeLast, j - 2) + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
