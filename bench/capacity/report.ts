import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { drawChart, type LineChart } from "../harness/chart.ts";
import { formatNumber } from "../harness/format.ts";
import { type Report, toMarkdown } from "../harness/report.ts";
import type { Spread } from "../harness/statistics.ts";
import type { Step } from "./measurements.ts";

const docsPage = fileURLToPath(new URL("../../docs/capacity.md", import.meta.url));
const picture = new URL("../../docs/images/bench-capacity.svg", import.meta.url);
const resultsFile = new URL("../results/capacity.json", import.meta.url);

/** What the picture shows; the others lie on the same lines. */
const shown = [
  "first page of a list (100)",
  "last page (100)",
  "file by key",
  "new upload",
  "deletion of 100 files",
  "look for 100 abandoned uploads",
];

export function toReport(steps: readonly Step[]): Report {
  const columns = ["", ...steps.map(({ rows }) => rows.toLocaleString("en"))];
  const rowsOf = (
    part: "pages" | "medianMs" | "sizesGib",
    format = formatNumber,
    show = (name: string) => name,
  ) =>
    Object.keys(steps[0]?.[part] ?? {}).map((name) => [
      show(name),
      ...steps.map((step) => format(step[part][name] ?? Number.NaN)),
    ]);
  return {
    tables: [
      {
        caption: "Pages of 8 KiB that a statement of the service touches, by rows in the table",
        columns,
        rows: rowsOf("pages", String),
      },
      {
        caption: "Median time of the same statements without their commit, ms, one at a time",
        columns,
        rows: rowsOf("medianMs"),
      },
      {
        caption: "Size of the table and its indexes, GiB",
        columns,
        rows: rowsOf("sizesGib", formatNumber, (name) => `\`${name}\``),
      },
    ],
    notes: [],
    data: steps,
  };
}

function toChart(steps: readonly Step[]): LineChart {
  const point = (pages: number | undefined): Spread | null =>
    pages === undefined ? null : { median: pages, least: pages, most: pages };
  return {
    kind: "lines",
    name: "capacity",
    title: "Pages that a statement touches, by rows in the table",
    xLabel: "rows",
    xTicks: steps.map(({ rows }) => rows.toLocaleString("en")),
    yLabel: "pages of 8 KiB",
    series: shown.map((label) => ({ label, points: steps.map(({ pages }) => point(pages[label])) })),
  };
}

/** Keeps the figures, and puts the tables in the docs. */
export function saveSteps(steps: readonly Step[]): void {
  const report = toReport(steps);
  const measuredAt = new Date().toISOString();
  writeFileSync(resultsFile, `${JSON.stringify({ name: "capacity", measuredAt, ...report }, null, 1)}\n`);
  const [begin, end] = ["<!-- capacity -->", "<!-- /capacity -->"];
  const page = readFileSync(docsPage, "utf8");
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/capacity.md lacks ${begin} … ${end}`);
  const machine = `${platform()} ${arch()}, ${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB, PostgreSQL 18 with its default settings and fsync on`;
  const origin = `Measured on ${measuredAt.slice(0, 10)}: ${machine}. \`node bench/capacity.ts\``;
  const chart = toChart(steps);
  writeFileSync(picture, drawChart(chart));
  const text = [`![${chart.title}](images/bench-capacity.svg)`, toMarkdown(report), origin].join("\n\n");
  writeFileSync(docsPage, `${before}${begin}\n\n${text}\n\n${end}${after}`);
}
