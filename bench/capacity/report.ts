import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { formatNumber } from "../harness/format.ts";
import { type Report, toMarkdown } from "../harness/report.ts";
import type { Step } from "./measurements.ts";

const docsPage = fileURLToPath(new URL("../../docs/capacity.md", import.meta.url));
const resultsFile = new URL("../results/capacity.json", import.meta.url);

export function toReport(steps: readonly Step[]): Report {
  const columns = ["", ...steps.map(({ rows }) => rows.toLocaleString("en"))];
  const rowsOf = (part: "pages" | "medianMs" | "sizesGib", show = (name: string) => name) =>
    Object.keys(steps[0]?.[part] ?? {}).map((name) => [
      show(name),
      ...steps.map((step) => formatNumber(step[part][name] ?? Number.NaN)),
    ]);
  return {
    tables: [
      {
        caption: "Pages of 8 KiB that a statement of the service touches, by rows in the table",
        columns,
        rows: rowsOf("pages"),
      },
      {
        caption: "Median time of the same statements without their commit, ms, one at a time",
        columns,
        rows: rowsOf("medianMs"),
      },
      {
        caption: "Size of the table and its indexes, GiB",
        columns,
        rows: rowsOf("sizesGib", (name) => `\`${name}\``),
      },
    ],
    notes: [],
    data: steps,
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
  writeFileSync(docsPage, `${before}${begin}\n\n${toMarkdown(report)}\n\n${origin}\n\n${end}${after}`);
}
