const noColumn = /[\p{Mn}\p{Me}\u1160-\u11ff]/u;
const twoColumns =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
const emojiSelector = "\ufe0f";

/** Where terminals differ, as with joined emoji, assume the larger width: a short line is better than a wrapped one. */
function columnsOf(letter: string): number {
  if (noColumn.test(letter)) return letter === emojiSelector ? 1 : 0;
  return twoColumns.test(letter) ? 2 : 1;
}

export function countColumns(letters: readonly string[]): number {
  return letters.reduce((sum, letter) => sum + columnsOf(letter), 0);
}

/** As many of the first letters as fit. */
export function takeColumns(letters: readonly string[], columns: number): string[] {
  const taken: string[] = [];
  let left = columns;
  for (const letter of letters) {
    left -= columnsOf(letter);
    if (left < 0) break;
    taken.push(letter);
  }
  return taken;
}
