import { replaceSection } from "../torture/report.ts";
import type { Verdict } from "./try-mutant.ts";

export interface Score {
  startedAt: Date;
  /** How many there are; a run may try some of them. */
  all: number;
  seed: number;
  tried: { file: string; what: string; outcome: Verdict["outcome"]; why: string | null }[];
}

/** Puts the result in the docs, a bad one too. */
export function saveScore({ startedAt, all, seed, tried }: Score): void {
  const shorten = (text: string) => text.replace("packages/server/src/", "");
  const byFile = [...Map.groupBy(tried, ({ file }) => shorten(file))].sort();
  const count = (of: Score["tried"], outcome: Verdict["outcome"]) =>
    of.filter((one) => one.outcome === outcome).length;
  const row = (name: string, of: Score["tried"]) => {
    const [killed, hung] = [count(of, "killed"), count(of, "hung")];
    return `| ${name} | ${of.length} | ${killed} | ${hung} | ${Math.round(((killed + hung) / of.length) * 100)}% |`;
  };
  const survivors = tried.filter(({ outcome }) => outcome === "survived");
  const choice = tried.length === all ? "All" : `${tried.length} of the`;
  const chosenBy = tried.length === all ? "" : `, chosen by seed ${seed}`;
  replaceSection(
    "mutants",
    [
      "| File | Mutants | A test failed | A test never ended | Noticed |",
      "| --- | --- | --- | --- | --- |",
      ...byFile.map(([file, of]) => row(`\`${file}\``, of)),
      row("all", tried),
      "",
      `${choice} ${all} mutants that there are${chosenBy}, run on ${startedAt.toISOString().slice(0, 10)}. Not noticed:`,
      "",
      ...survivors.map(({ what, why }) => `- \`${shorten(what)}\`${why === null ? "" : `: ${why}`}`).sort(),
    ].join("\n"),
  );
}
