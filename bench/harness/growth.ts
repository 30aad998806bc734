import type { LineChart } from "./chart.ts";
import { formatNumber, formatShare } from "./format.ts";
import type { LoadResult } from "./load-job.ts";
import type { Table } from "./report.ts";
import { spreadOf } from "./statistics.ts";

/** Something that was done with ever more work: its rounds for each amount. */
export interface GrowthLine {
  label: string;
  steps: LoadResult[][];
}

export interface GrowthView {
  name: string;
  title: string;
  /** What grows, and how much of it there was. */
  xLabel: string;
  xTicks: string[];
  yLabel: string;
  value: (result: LoadResult, step: number) => number;
}

/** A table and a picture of one figure. The last column compares the largest amount with the smallest, round by round. */
export function toGrowth(view: GrowthView, lines: readonly GrowthLine[]): { table: Table; chart: LineChart } {
  const { name, title, xLabel, xTicks, yLabel, value } = view;
  const measured = lines.map(({ label, steps }) => ({
    label,
    steps: steps.map((rounds, step) => rounds.map((result) => value(result, step))),
  }));
  return {
    table: {
      caption: `${title}: ${yLabel}`,
      columns: [xLabel, ...xTicks, "last / first"],
      rows: measured.map(({ label, steps }) => {
        const [first = [], last = []] = [steps[0], steps.at(-1)];
        return [
          label,
          ...steps.map((rounds) => formatNumber(spreadOf(rounds).median)),
          formatShare(spreadOf(last.map((figure, round) => figure / (first[round] ?? Number.NaN)))),
        ];
      }),
    },
    chart: {
      kind: "lines",
      name,
      title,
      xLabel,
      xTicks,
      yLabel,
      series: measured.map(({ label, steps }) => ({
        label,
        points: steps.map((rounds) => (rounds.length === 0 ? null : spreadOf(rounds))),
      })),
    },
  };
}

export const ratePerSec = ({ operations, elapsedSec }: LoadResult) => operations / elapsedSec;
/** Of the service, and of its database where it has one. */
export const cpuUsPerOperation = ({ cpuSec, operations }: LoadResult) =>
  (((cpuSec["server"] ?? 0) + (cpuSec["database"] ?? 0)) * 1e6) / operations;
