// Runs the suites of docs/compatibility.md on SQLite and the disk, on PostgreSQL, and with files in a bucket, and writes
// down how each case ended:
//   npx node packages/site/test/write-compatibility.ts [word of a suite's path …]
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Cell, couldRun, fillSuite, type Results, type Suite, suites } from "./support/compatibility.ts";
import { root } from "./support/doc-files.ts";

const page = join(root, "docs/compatibility.md");
const reporter = join(import.meta.dirname, "support/print-results.ts");

async function run({ file }: Suite, storage: string): Promise<Map<string, Cell>> {
  const args = ["--disable-warning=ExperimentalWarning", "--test", `--test-reporter=${reporter}`, file];
  const env = { ...process.env, UPSTOW_TEST_STORAGE: storage, UPSTOW_TEST_QUICK: "0" };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  const cells = new Map<string, Cell>();
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith("{")) continue;
    const { name, cell } = JSON.parse(line) as { name: string; cell: Cell };
    // On both databases it has to pass on both.
    if (cells.get(name) !== "failed") cells.set(name, cell);
  }
  return cells;
}

const wanted = process.argv.slice(2);
for (const suite of suites) {
  if (wanted.length > 0 && !wanted.some((word) => suite.file.includes(word))) continue;
  const disk = await run(suite, "");
  const bucket = suite.isMissing === true ? new Map<string, Cell>() : await run(suite, "s3");
  const results: Results = new Map();
  for (const [name, cell] of disk) results.set(name, { disk: cell, bucket: bucket.get(name) ?? "absent" });
  writeFileSync(page, fillSuite(readFileSync(page, "utf8"), suite, results));
  const failed = [...disk, ...bucket].filter(([, cell]) => cell === "failed").map(([name]) => name);
  const outcome = couldRun(results)
    ? `${disk.size} cases, failed: ${failed.join("; ") || "none"}`
    : "left as saved, because this machine skips some of its cases";
  process.stdout.write(`${suite.title}: ${outcome}\n`);
}
