import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apps } from "./apps.ts";

export interface Outcome {
  name: string;
  took: string;
  /** From the reference. */
  difference: string;
  error: string | null;
}

const readme = join(import.meta.dirname, "README.md");
const heading = "| Application | Outcome | On | Took | Differs |\n|---|---|---|--:|--:|\n";

/** Into the table of the README, where the other rows keep their lines. */
export function saveOutcome({ name, took, difference, error }: Outcome, now: Date): void {
  const text = readFileSync(readme, "utf8");
  const start = text.indexOf(heading) + heading.length;
  const lines = new Map(
    [...text.slice(start).matchAll(/^\| (.+?) \|.*\|$/gm)].map(([line, name]) => [name, line]),
  );
  const date = now.toISOString().slice(0, 10);
  const outcome = error === null ? "passed" : "failed";
  lines.set(name, `| ${name} | ${outcome} | ${date} | ${took} | ${difference} |`);
  const table = apps.map(({ name }) => lines.get(name) ?? `| ${name} | not run | – | – | – |`);
  writeFileSync(readme, `${text.slice(0, start)}${table.join("\n")}\n`);
}
