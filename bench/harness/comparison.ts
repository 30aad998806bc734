import { formatAtLeast, formatNumber, formatShare } from "./format.ts";
import type { LoadResult } from "./load-job.ts";
import type { Table } from "./report.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** A line of the table; `against` names what it is measured by. */
export interface ComparisonRow {
  label: string;
  contender: string;
  against?: string;
  /** The least share of the other's rate that we set out to reach. */
  target?: number;
  /** The least rate that we set out to reach, whatever the others do. */
  targetRate?: number;
}

/** How an operation's rate and CPU time are told. */
export interface Unit {
  rate: string;
  perOperation: number;
  cost: string;
  costPerSec: number;
}

/** Of one file to or from a server. */
export const transferOf = (mebibytes: number): Unit => ({
  rate: "MiB/s",
  perOperation: mebibytes,
  cost: "CPU s/GiB",
  costPerSec: 1024,
});

export const requests: Unit = {
  rate: "requests/s",
  perOperation: 1,
  cost: "CPU µs/request",
  costPerSec: 1e6,
};

interface Figures extends ComparisonRow {
  rate: Spread;
  cost: Spread;
  otherCosts: (Spread & { role: string })[];
  shareOfRate: Spread | null;
  shareOfCpu: Spread | null;
  p99Ms: Spread;
  rounds: LoadResult[];
}

/** Ratios are taken within a round and only then summed up, so that a slow minute of the machine cancels out. */
export function compare(
  results: ReadonlyMap<string, LoadResult[]>,
  rows: readonly ComparisonRow[],
  unit: Unit,
): Figures[] {
  return rows.map((row) => {
    const rounds = getRounds(results, row.contender);
    const others = row.against === undefined ? null : getRounds(results, row.against);
    const share = (part: (result: LoadResult) => number) =>
      others && spreadOf(rounds.map((result, i) => part(result) / part(others[i] ?? result)));
    const cost = (role: string) => (result: LoadResult) =>
      (cpuPerOperation(result, role) * unit.costPerSec) / unit.perOperation;
    return {
      ...row,
      rate: spreadOf(rounds.map((result) => rateOf(result) * unit.perOperation)),
      cost: spreadOf(rounds.map(cost("server"))),
      otherCosts: Object.keys(rounds[0]?.cpuSec ?? {})
        .filter((role) => role !== "server")
        .map((role) => ({ role, ...spreadOf(rounds.map(cost(role))) })),
      shareOfRate: share(rateOf),
      // What stands between the client and the server is charged too. The bare server has no database, so a
      // database's time is shown apart.
      shareOfCpu: share(
        (result) => 1 / (cpuPerOperation(result, "server") + cpuPerOperation(result, "proxy")),
      ),
      p99Ms: spreadOf(rounds.map(({ p99Ms }) => p99Ms)),
      rounds,
    };
  });
}

export function toTable(caption: string, figures: readonly Figures[], unit: Unit, other: string): Table {
  const columns = [
    "",
    unit.rate,
    "p99 ms",
    unit.cost,
    `rate beside ${other}`,
    `per CPU beside ${other}`,
    "target",
  ];
  const rows = figures.map((row) => [
    row.label,
    formatNumber(row.rate.median),
    formatNumber(row.p99Ms.median),
    [row.cost, ...row.otherCosts].map(formatCost).join(" + "),
    row.shareOfRate === null ? "" : formatShare(row.shareOfRate),
    row.shareOfCpu === null ? "" : formatShare(row.shareOfCpu),
    formatTargets(row),
  ]);
  return { caption, columns, rows };
}

const formatCost = ({ median, role }: Spread & { role?: string }) =>
  role === undefined ? formatNumber(median) : `${formatNumber(median)} ${role}`;

function formatTargets({ target, targetRate, rate, shareOfRate }: Figures): string {
  const targets = [formatAtLeast(targetRate, rate.median), formatAtLeast(target, shareOfRate?.median ?? 0)];
  return targets.filter((text) => text !== "").join(", ");
}

function getRounds(results: ReadonlyMap<string, LoadResult[]>, name: string): LoadResult[] {
  const rounds = results.get(name);
  if (rounds === undefined) throw new Error(`nothing was measured for ${name}`);
  return rounds;
}

const rateOf = (result: LoadResult) => result.operations / result.elapsedSec;
const cpuPerOperation = (result: LoadResult, role: string) => (result.cpuSec[role] ?? 0) / result.operations;
