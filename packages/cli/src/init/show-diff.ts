import type { Change, Mask } from "./change.ts";

const contextLines = 3;

/** In the format of `diff -u`. */
export function showDiff(changes: readonly Change[], mask: Mask): string {
  return changes.map((change) => mask(showChange(change))).join("\n");
}

function showChange({ path, before, after }: Change): string {
  const head = [`--- ${before === null ? "/dev/null" : path}`, `+++ ${path}`];
  const lines = compareLines(linesOf(before ?? ""), linesOf(after));
  const isShown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - contextLines), i + contextLines + 1).some((line) => !line.startsWith(" ")),
  );
  const shown = lines.flatMap((line, i) => {
    if (isShown[i] !== true) return isShown[i - 1] === true ? ["…"] : [];
    return [line];
  });
  return [...head, ...shown, ""].join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Every line, prefixed with a space, + or -. Node 20 lacks the built-in diff. */
function compareLines(before: string[], after: string[]): string[] {
  // Length of the longest common subsequence from each pair of positions.
  const common = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const row = common[i] as Uint16Array;
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push(` ${before[i++]}`);
      j++;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(`-${before[i++]}`);
    } else lines.push(`+${after[j++]}`);
  }
  return lines;
}
