import { replaceSection } from "../torture/report.ts";
import type { Verdict } from "./run-tests.ts";

export interface Score {
  startedAt: Date;
  /** How many there are; a run may try some of them. */
  all: number;
  seed: number;
  verdicts: { file: string; verdict: Verdict }[];
}

/** Puts the result in the docs, a bad one too. */
export function saveScore({ startedAt, all, seed, verdicts }: Score): void {
  const byFile = [...Map.groupBy(verdicts, ({ file }) => file.replace("packages/server/src/", ""))].sort();
  const countNoticed = (of: Score["verdicts"]) => of.filter(({ verdict }) => verdict !== "survived").length;
  const row = (name: string, of: Score["verdicts"]) =>
    `| ${name} | ${of.length} | ${countNoticed(of)} | ${Math.round((countNoticed(of) / of.length) * 100)} % |`;
  replaceSection(
    "mutants",
    [
      "| File | Mutants tried | Noticed | Score |",
      "| --- | --- | --- | --- |",
      ...byFile.map(([file, of]) => row(`\`${file}\``, of)),
      row("all", verdicts),
      "",
      `${verdicts.length} of the ${all} mutants there are, chosen by seed ${seed}, run on ${startedAt.toISOString().slice(0, 10)}.`,
    ].join("\n"),
  );
}
