import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { type Chart, drawChart } from "./chart.ts";
import { formatExtent } from "./format.ts";
import { toGlance } from "./glance.ts";
import { type Report, toMarkdown, toText } from "./report.ts";

const resultsFolder = new URL("../results/", import.meta.url);
const imagesFolder = new URL("../../docs/images/", import.meta.url);
const docsPage = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));

export interface Run {
  name: string;
  title: string;
  rounds: number;
  seconds: number;
  measuredAt: string;
  /** Of the last minute before it began; near 0 on a machine that had nothing else to do. */
  loadBefore: number;
}

function describeMachine() {
  return {
    platform: platform(),
    arch: arch(),
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
  };
}

/** Keeps the figures with every round, and puts the tables in the docs. */
export function saveReport(run: Run, report: Report): void {
  const machine = describeMachine();
  mkdirSync(resultsFolder, { recursive: true });
  writeFileSync(
    new URL(`${run.name}.json`, resultsFolder),
    `${JSON.stringify({ ...run, machine, ...report, charts: undefined }, roundFigures, 1)}\n`,
  );
  const { platform, arch, cores, memoryGib, node } = machine;
  const extent = report.extent ?? formatExtent(run.rounds, run.seconds);
  const origin = `Measured on ${run.measuredAt.slice(0, 10)}: ${platform} ${arch}, ${cores} cores, ${memoryGib} GiB, Node ${node.slice(1)}; load before ${run.loadBefore.toFixed(1)}; ${extent}. \`npm run bench -- ${run.name}\``;
  const pictures = (report.charts ?? []).map(saveChart);
  replaceSection(run.name, [`### ${run.title}`, ...pictures, toMarkdown(report), origin].join("\n\n"));
}

/** Everything that has been measured so far, on top of the page. */
export function saveGlance(names: readonly string[]): string {
  const { table, chart } = toGlance(resultsFolder, names);
  const text = toText({ tables: [table], notes: [], data: null });
  replaceSection(
    "glance",
    [saveChart(chart), toMarkdown({ tables: [table], notes: [], data: null })].join("\n\n"),
  );
  return text;
}

/** Returns what shows it in the docs. */
function saveChart(chart: Chart): string {
  const file = `bench-${chart.name}.svg`;
  writeFileSync(new URL(file, imagesFolder), drawChart(chart));
  return `![${chart.title}](images/${file})`;
}

const roundFigures = (_name: string, value: unknown) =>
  typeof value === "number" ? Number(value.toPrecision(5)) : value;

function replaceSection(name: string, text: string): void {
  const begin = `<!-- bench:${name} -->`;
  const end = `<!-- /bench:${name} -->`;
  const page = readFileSync(docsPage, "utf8");
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/performance.md lacks ${begin} … ${end}`);
  writeFileSync(docsPage, `${before}${begin}\n\n${text}\n\n${end}${after}`);
}
