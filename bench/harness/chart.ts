import type { Spread } from "./statistics.ts";

/** How something grows with the work: one line for each way to do it, with the spread of its rounds. */
export interface LineChart {
  kind: "lines";
  /** Of the file. */
  name: string;
  title: string;
  xLabel: string;
  xTicks: string[];
  yLabel: string;
  /** A point for each tick; null where nothing was measured. */
  series: { label: string; points: (Spread | null)[] }[];
}

/** Ratios on a scale where half and double lie equally far from 1. */
export interface RatioChart {
  kind: "ratios";
  name: string;
  title: string;
  bars: { label: string; ratio: Spread }[];
}

export type Chart = LineChart | RatioChart;

const width = 760;
const palette = {
  light: ["#1d4ed8", "#b45309", "#047857", "#be185d", "#6d28d9", "#334155", "#0e7490", "#a16207"],
  dark: ["#7db0ff", "#fbbf24", "#4ade80", "#f9a8d4", "#c4b5fd", "#cbd5e1", "#67e8f9", "#fde68a"],
};
const dashes = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 4", "6 2 1 2"];

/** A picture with a ground of its own, so that it can be read on any page, light or dark. */
export function drawChart(chart: Chart): string {
  const { height, body } = chart.kind === "lines" ? drawLines(chart) : drawRatios(chart);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(chart.title)}">
<style>
${themeRules("light", "#ffffff", "#1f2937", "#d7dce3")}
@media (prefers-color-scheme: dark) {
${themeRules("dark", "#14181f", "#e5e7eb", "#3a4250")}
}
text { font: 13px system-ui, sans-serif; }
.title { font-size: 15px; font-weight: 600; }
.small { font-size: 12px; }
.line { fill: none; stroke-width: 2.2; }
.whisker { stroke-width: 1.2; }
</style>
<rect class="ground" width="${width}" height="${height}" rx="8"/>
<text class="title" x="20" y="28">${escapeXml(chart.title)}</text>
${body}
</svg>
`;
}

function themeRules(theme: keyof typeof palette, ground: string, ink: string, grid: string): string {
  const colours = palette[theme].map(
    (colour, i) => `.s${i} { stroke: ${colour}; } .f${i} { fill: ${colour}; }`,
  );
  return `.ground { fill: ${ground}; } text { fill: ${ink}; } .grid { stroke: ${grid}; stroke-width: 1; } .axis { stroke: ${ink}; stroke-width: 1; }
${colours.join(" ")}`;
}

function drawLines({ series, xTicks, xLabel, yLabel }: LineChart) {
  const legendRows = Math.ceil(series.length / 2);
  const [left, right, top, plotHeight] = [74, 24, 56 + legendRows * 20, 240];
  const bottom = top + plotHeight;
  const values = series.flatMap(({ points }) =>
    points.flatMap((point) => (point === null ? [] : [point.least, point.most])),
  );
  const scale = createScale(values.filter((value) => Number.isFinite(value) && value > 0));
  const xAt = (i: number) => left + 20 + ((width - left - right - 40) * i) / Math.max(1, xTicks.length - 1);
  const yAt = (value: number) => round(bottom - plotHeight * scale.at(value));
  const grid = scale.ticks.map(
    (tick) =>
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${yAt(tick)}" y2="${yAt(tick)}"/><text class="small" text-anchor="end" x="${left - 8}" y="${yAt(tick) + 4}">${formatTick(tick)}</text>`,
  );
  const ticks = xTicks.map(
    (tick, i) =>
      `<text class="small" text-anchor="middle" x="${round(xAt(i))}" y="${bottom + 18}">${escapeXml(tick)}</text>`,
  );
  const lines = series.map(({ points }, s) => {
    const shown = points.flatMap((point, i) => (point === null ? [] : [{ ...point, x: round(xAt(i)) }]));
    const path = shown.map(({ x, median }, i) => `${i === 0 ? "M" : "L"}${x} ${yAt(median)}`).join("");
    const dots = shown.map(
      ({ x, median, least, most }) =>
        `<line class="whisker s${s}" x1="${x}" x2="${x}" y1="${yAt(least)}" y2="${yAt(most)}"/><circle class="f${s}" cx="${x}" cy="${yAt(median)}" r="3.4"/>`,
    );
    return `<path class="line s${s}" stroke-dasharray="${dashes[s] ?? ""}" d="${path}"/>${dots.join("")}`;
  });
  const legend = series.map(({ label }, s) => {
    const [x, y] = [20 + (s % 2) * 365, 52 + Math.floor(s / 2) * 20];
    return `<line class="line s${s}" stroke-dasharray="${dashes[s] ?? ""}" x1="${x}" x2="${x + 30}" y1="${y - 4}" y2="${y - 4}"/><circle class="f${s}" cx="${x + 15}" cy="${y - 4}" r="3.4"/><text class="small" x="${x + 38}" y="${y}">${escapeXml(label)}</text>`;
  });
  const axis = `<line class="axis" x1="${left}" x2="${width - right}" y1="${bottom}" y2="${bottom}"/><text class="small" text-anchor="middle" x="${(left + width - right) / 2}" y="${bottom + 38}">${escapeXml(xLabel)}</text><text class="small" transform="translate(18 ${top + plotHeight / 2}) rotate(-90)" text-anchor="middle">${escapeXml(yLabel + (scale.isLog ? " (logarithmic)" : ""))}</text>`;
  return { height: bottom + 52, body: [...grid, ...ticks, axis, ...lines, ...legend].join("\n") };
}

function drawRatios({ bars }: RatioChart) {
  const [left, right, top, rowHeight] = [430, 96, 62, 24];
  const bottom = top + bars.length * rowHeight;
  const values = bars.flatMap(({ ratio }) => [ratio.least, ratio.most, 0.5, 2]).filter((value) => value > 0);
  const [low, high] = [Math.log2(Math.min(...values)), Math.log2(Math.max(...values))];
  const xAt = (value: number) =>
    round(left + ((width - left - right) * (Math.log2(value) - low)) / (high - low));
  const marks = [0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4, 10, 30, 100].filter(
    (mark) => Math.log2(mark) >= low && Math.log2(mark) <= high,
  );
  const grid = marks.map(
    (mark) =>
      `<line class="${mark === 1 ? "axis" : "grid"}" x1="${xAt(mark)}" x2="${xAt(mark)}" y1="${top - 8}" y2="${bottom}"/><text class="small" text-anchor="middle" x="${xAt(mark)}" y="${top - 13}">${mark}</text>`,
  );
  const rows = bars.map(({ label, ratio }, i) => {
    const y = top + i * rowHeight + rowHeight / 2;
    const [from, to] = [xAt(1), xAt(ratio.median)];
    const colour = ratio.median >= 1 ? 2 : 0;
    return `<text class="small" text-anchor="end" x="${left - 10}" y="${y + 4}">${escapeXml(label)}</text><rect class="f${colour}" fill-opacity="0.75" x="${Math.min(from, to)}" width="${round(Math.max(1, Math.abs(to - from)))}" y="${y - 7}" height="14"/><line class="axis" x1="${xAt(ratio.least)}" x2="${xAt(ratio.most)}" y1="${y}" y2="${y}"/><text class="small" x="${width - right + 12}" y="${y + 4}">${formatTick(ratio.median)}</text>`;
  });
  return { height: bottom + 20, body: [...grid, ...rows].join("\n") };
}

interface Scale {
  isLog: boolean;
  ticks: number[];
  /** Where a value lies between the axis (0) and the top (1). */
  at(value: number): number;
}

/** From 0, unless the values lie so far apart that the small ones would lie on the axis. */
function createScale(values: readonly number[]): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (values.length === 0) return { isLog: false, ticks: [0, 1], at: (value) => value };
  if (most / least > 20) {
    const [low, high] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
    const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
    return {
      isLog: true,
      ticks,
      at: (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low),
    };
  }
  const step = niceStep(most / 5);
  const count = Math.ceil(most / step);
  const ticks = Array.from({ length: count + 1 }, (_, i) => i * step);
  return { isLog: false, ticks, at: (value) => value / (count * step) };
}

function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return ([1, 2, 2.5, 5].find((factor) => factor * power >= atLeast) ?? 10) * power;
}

const formatTick = (value: number) =>
  Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 6 });
const round = (value: number) => Math.round(value * 10) / 10;
const escapeXml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
