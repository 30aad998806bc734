import { diff } from "node:util";
import type { Change, Mask } from "./change.ts";

const contextLines = 3;

/** As `diff -u` would show them. */
export function showDiff(changes: readonly Change[], mask: Mask): string {
  return changes.map((change) => mask(showChange(change))).join("\n");
}

function showChange({ path, before, after }: Change): string {
  const head = [`--- ${before === null ? "/dev/null" : path}`, `+++ ${path}`];
  const lines = diff(linesOf(before ?? ""), linesOf(after)) as [number, string][];
  const isShown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - contextLines), i + contextLines + 1).some(([kind]) => kind !== 0),
  );
  const shown = lines.flatMap(([kind, line], i) => {
    if (isShown[i] !== true) return isShown[i - 1] === true ? ["…"] : [];
    return [`${kind === 0 ? " " : kind > 0 ? "-" : "+"}${line}`];
  });
  return [...head, ...shown, ""].join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
