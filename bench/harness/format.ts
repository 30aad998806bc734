import type { Spread } from "./statistics.ts";

/** Three significant digits, with thousands set apart. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  const rounded = Number(value.toPrecision(3));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

export const formatExtent = (rounds: number, seconds: number) => `${rounds} rounds of ${seconds} s each`;

/** A ratio with how far its rounds lay apart. */
export function formatShare({ median, least, most }: Spread): string {
  if (!Number.isFinite(median)) return "–";
  const digits = median < 0.1 ? 3 : 2;
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

export function formatAtLeast(target: number | undefined, value: number): string {
  return target === undefined ? "" : `≥ ${Number(target.toPrecision(2))} ${value >= target ? "✔" : "✘"}`;
}

export function formatBelow(target: number, value: number, unit: string): string {
  return `< ${target} ${unit} ${value < target ? "✔" : "✘"}`;
}
