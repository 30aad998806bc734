import { existsSync, readFileSync } from "node:fs";
import type { RatioChart } from "./chart.ts";
import type { Table } from "./report.ts";

interface Result {
  measuredAt: string;
  rounds: number;
  tables: Table[];
}

interface Ratio {
  what: string;
  beside: string;
  /** What the ratio is of: rate, work per CPU, or CPU (where less is better). */
  figures: { kind: string; text: string }[];
  rounds: number;
  target: string;
}

const spreadPattern = /^([\d.]+) \(([\d.]+)–([\d.]+)\)$/;
/** Rows of others in our tables are measured too, but are not what the page is about. */
const ours = /upstow|embedded|postgresql|compiled/i;

/** Every ratio of ours to a floor or a peer, from the tables that the benchmarks have kept. */
function listRatios(resultsFolder: URL, names: readonly string[]): Ratio[] {
  return names.flatMap((name) => {
    const file = new URL(`${name}.json`, resultsFolder);
    if (!existsSync(file)) return [];
    const { tables, rounds } = JSON.parse(readFileSync(file, "utf8")) as Result;
    return tables.flatMap((table) => table.rows.flatMap((row) => readRow(table, row, rounds)));
  });
}

function readRow({ caption, columns }: Table, row: readonly string[], rounds: number): Ratio[] {
  const [label = ""] = row;
  const found = columns.flatMap((column, i) => {
    const match = /^(Upstow's )?(.*) beside (.*)$/.exec(column);
    const text = row[i] ?? "";
    if (match === null || !spreadPattern.test(text)) return [];
    const [, isReverse, kind = "", other = ""] = match;
    return [{ kind, text, isReverse: isReverse !== undefined, other }];
  });
  const [first] = found;
  if (first === undefined || !(first.isReverse || ours.test(label) || ours.test(caption))) return [];
  return [
    {
      what: first.isReverse ? caption : `${caption}: ${label}`,
      beside: first.isReverse ? label : first.other,
      figures: found.map(({ kind, text }) => ({ kind, text })),
      rounds,
      target: row[columns.indexOf("target")] ?? "",
    },
  ];
}

/** One table and one picture of everything that was compared. */
export function toGlance(resultsFolder: URL, names: readonly string[]): { table: Table; chart: RatioChart } {
  const ratios = listRatios(resultsFolder, names);
  const table = {
    caption:
      "Upstow compared with other servers and libraries: median of the rounds, with minimum and maximum in brackets",
    columns: ["", "compared with", "ratio", "by CPU", "rounds", "target"],
    rows: ratios.map(({ what, beside, figures, rounds, target }) => [
      what,
      beside,
      ...[0, 1].map((i) => (figures[i] === undefined ? "" : `${figures[i].kind} ${figures[i].text}`)),
      String(rounds),
      target,
    ]),
  };
  const bars = ratios.flatMap(({ what, beside, figures }) => {
    const [figure] = figures;
    const [, median, least, most] = (spreadPattern.exec(figure?.text ?? "") ?? []).map(Number);
    if (median === undefined || least === undefined || most === undefined || !(least > 0)) return [];
    const isCost = /^(time|cpu|client cpu|p99)/i.test(figure?.kind ?? "");
    const ratio = isCost ? { median: 1 / median, least: 1 / most, most: 1 / least } : { median, least, most };
    return [{ label: shorten(`${what} / ${beside}`), ratio }];
  });
  return {
    table,
    chart: {
      kind: "ratios",
      name: "glance",
      title: "Upstow compared with others: right of 1, it does more or costs less",
      bars,
    },
  };
}

const longest = 60;
const shorten = (text: string) => (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`);
