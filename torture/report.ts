import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import type { Outcome } from "./scenario.ts";

const docsPage = fileURLToPath(new URL("../docs/reliability.md", import.meta.url));

export interface Run {
  name: string;
  /** What a round is called. */
  unit: string;
  rounds: number;
  seed: number;
  lanes: number;
  startedAt: string;
  tookSec: number;
}

/** Puts the result in the docs, a bad one too. */
export function saveReport(run: Run, { counts, violations }: Outcome): void {
  const rows = Object.entries({ ...counts, violations: violations.length }).map(
    ([name, count]) => `| ${name} | ${count.toLocaleString("en")} |`,
  );
  const machine = `${platform()} ${arch()}, ${cpus().length} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB, Node ${process.versions.node}`;
  const origin = `Run on ${run.startedAt.slice(0, 10)} in ${run.tookSec} s with seed ${run.seed} and ${run.lanes} ${run.lanes === 1 ? "lane" : "lanes"}: ${machine}.`;
  replaceSection(
    run.name,
    [`| ${run.rounds.toLocaleString("en")} ${run.unit} | |`, "| --- | --- |", ...rows, "", origin].join("\n"),
  );
}

export function replaceSection(name: string, text: string): void {
  const begin = `<!-- torture:${name} -->`;
  const end = `<!-- /torture:${name} -->`;
  const page = readFileSync(docsPage, "utf8");
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/reliability.md lacks ${begin} … ${end}`);
  writeFileSync(docsPage, `${before}${begin}\n\n${text}\n\n${end}${after}`);
}
