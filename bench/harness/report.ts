import type { Chart } from "./chart.ts";

export interface Table {
  caption: string;
  columns: string[];
  rows: string[][];
}

/** What a benchmark found: tables for people, `data` with every round for machines. */
export interface Report {
  tables: Table[];
  notes: string[];
  /** How often and how long it was measured, where that is not what the command line says. */
  extent?: string;
  /** Pictures, made anew with the figures. */
  charts?: Chart[];
  data: unknown;
}

export interface BenchmarkContext {
  /** For everything a benchmark writes; removed after it. */
  folder: string;
  rounds: number;
  seconds: number;
  /** Other amounts of work than a benchmark would take, to try it quickly. */
  sizes: number[] | null;
  /** Another commit to compare with than the one whose figures are kept. */
  before: string | null;
}

export interface Benchmark {
  title: string;
  run(context: BenchmarkContext): Promise<Report>;
}

export function toMarkdown({ tables, notes }: Report): string {
  const blocks = tables.map(({ caption, columns, rows }) =>
    [`**${caption}**`, "", line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n"),
  );
  return [...blocks, ...notes.map((note) => `- ${note}`)]
    .join("\n\n")
    .replaceAll(/(^- .*)\n\n(?=- )/gm, "$1\n");
}

const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

export function toText({ tables, notes }: Report): string {
  const blocks = tables.map(({ caption, columns, rows }) => {
    const all = [columns, ...rows];
    const widths = columns.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
    const pad = (row: readonly string[]) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd();
    return [`\n${caption}`, ...all.map((row) => `  ${pad(row)}`)].join("\n");
  });
  return [...blocks, ...notes.map((note) => `  * ${note}`)].join("\n");
}
