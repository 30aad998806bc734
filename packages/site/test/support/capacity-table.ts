import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./doc-files.ts";

interface Result {
  measuredAt: string;
  tables: { caption: string; columns: string[]; rows: string[][] }[];
}

/** How much of a core may be busy before answers get slow. */
const share = 0.6;

const works = [
  {
    title: "whole uploads of 10 KiB, embedded",
    bench: "upload-cycle",
    table: 0,
    row: "Upstow: request",
    unit: "uploads/s",
  },
  {
    title: "reads of 10 KiB files",
    bench: "small-files",
    table: 0,
    row: "Upstow, 100 files",
    unit: "reads/s",
  },
  {
    title: "API calls, embedded",
    bench: "control-plane",
    table: 0,
    row: "embedded database",
    unit: "calls/s",
  },
  {
    title: "API calls, PostgreSQL (its own CPU apart)",
    bench: "control-plane",
    table: 0,
    row: "PostgreSQL",
    unit: "calls/s",
  },
  { title: "receiving large files", bench: "large-files", table: 0, row: "Upstow", unit: "MiB/s" },
  { title: "sending large files", bench: "large-files", table: 1, row: "Upstow", unit: "MiB/s" },
] as const;

/** What one core carries, from the CPU time that the benches measured for each operation. */
export function renderCapacity(): { head: string[]; rows: string[][] } {
  const head = ["Work", "CPU for each", `one core, ${share * 100}% busy`, "measured on"];
  const rows = works.map(({ title, bench, table, row, unit }) => {
    const result: Result = JSON.parse(readFileSync(join(root, `bench/results/${bench}.json`), "utf8"));
    const { columns = [], rows: measured = [] } = result.tables[table] ?? {};
    const at = columns.findIndex((column) => column.startsWith("CPU "));
    const cell = measured.find(([label = ""]) => label.startsWith(row))?.[at] ?? "";
    const cost = Number.parseFloat(cell.replaceAll(",", ""));
    if (!(cost > 0)) throw new Error(`bench/results/${bench}.json has no cost of "${row}"`);
    const isPerGib = columns[at] === "CPU s/GiB";
    const rate = isPerGib ? (share * 1024) / cost : (share * 1e6) / cost;
    const shown = `${cost.toLocaleString("en")} ${isPerGib ? "s/GiB" : "µs"}`;
    const rounded = Number(rate.toPrecision(2)).toLocaleString("en");
    return [title, shown, `${rounded} ${unit}`, result.measuredAt.slice(0, 10)];
  });
  return { head, rows };
}
