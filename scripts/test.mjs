// Runs on the Node that the packages bring (`npm test` puts it first in PATH).
//   npm test                  everything but *.slow.test.ts, quick parts first
//   npm test -- sub string    only the test files whose path contains one of the words, slow ones too
//   npm test -- --changed     only the test files that the changes since the last commit can touch
//   npm run test:all          the slow ones as well, and what test/support/quick-run.ts leaves out
//   npm run test:s3           the service's API, with PostgreSQL and an S3 server; takes words too
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startPostgres } from "../test/support/postgres-cluster.ts";
import { startOwnSwift, swiftMissing } from "../test/support/swift.ts";
import { keepTouchedTests } from "./changed-tests.mjs";
import {
  cephPackages,
  chartPackages,
  installDebianPackages,
  isCi,
  tuspyPackages,
} from "./debian-packages.mjs";
import { findFilesOnS3 } from "./files-on-s3.mjs";
import { secondsSince } from "./run-captured.mjs";
import { runTestFiles } from "./run-test-files.mjs";

const testFilePatterns = [
  "scripts/*.test.mjs",
  "packages/*/src/**/*.test.ts",
  "packages/*/test/**/*.test.ts",
  "test/**/*.test.ts",
];

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const flag = process.argv[2]?.startsWith("--") ? process.argv[2] : null;
const onS3 = flag === "--s3";
const words = process.argv.slice(flag === null ? 2 : 3);
const found = onS3 ? findFilesOnS3() : globSync(testFilePatterns, { exclude: ["**/node_modules/**"] });
const isWanted = (file) =>
  words.length > 0
    ? words.some((word) => file.includes(word))
    : flag === "--all" || !/\.slow\.test\.m?ts$/.test(file);
const wanted = found.filter(isWanted).sort();
const onlyChanged = flag === "--changed";
const files = onlyChanged ? keepTouchedTests(wanted) : wanted;
// `--all`, and files that somebody named, leave nothing out.
if (flag !== "--all" && words.length === 0) process.env.UPSTOW_TEST_QUICK = "1";
const summary = [];
let totals = null;

async function runStage(name, work) {
  console.log(`\n── ${name}`);
  const startedMs = Date.now();
  let ok = false;
  try {
    ok = await work();
  } catch (error) {
    console.log(error);
  }
  summary.push(`${ok ? "✔" : "✖"} ${name} (${secondsSince(startedMs)})`);
  if (!ok) process.exitCode = 1;
}

const runTool = (tool, args) => async () => {
  const [code] = await once(spawn(tool, args, { stdio: "inherit" }), "exit");
  return code === 0;
};

async function startServers() {
  // A run of a few files may need no Swift; those that do start their own.
  const needsSwift = words.length === 0 && !onS3 && swiftMissing === false;
  const [postgres, swift] = await Promise.all([
    startPostgres({ isInMemory: true }),
    needsSwift ? startOwnSwift() : null,
  ]);
  process.env.UPSTOW_TEST_POSTGRES_URL = postgres.url;
  if (swift !== null) process.env.UPSTOW_TEST_SWIFT_URL = swift.endpoint;
  return async () => {
    await swift?.stop();
    await postgres.stop();
  };
}

async function runTests() {
  if (onlyChanged) console.log(`Changes can touch ${files.length} of ${wanted.length} test files.`);
  if (onlyChanged && files.length === 0) return true;
  if (files.length === 0) {
    console.log(words.length === 0 ? "There are no test files." : `No test file matches: ${words.join(" ")}`);
    return false;
  }
  if (onS3) {
    await installDebianPackages(cephPackages, console.log);
    // The support of these tests reads it; each file starts a server of its own.
    process.env.UPSTOW_TEST_STORAGE = "s3";
  }
  if (flag === "--all") await installDebianPackages([...chartPackages, ...tuspyPackages], console.log);
  const stopServers = await servers;
  try {
    totals = await runTestFiles(files, { skipsFail: isCi, print: console.log });
    return totals.ok;
  } finally {
    await stopServers();
  }
}

// They start while the first stages run; whether they could is for the tests' stage to say.
const servers = files.length > 0 ? startServers() : null;
servers?.catch(() => {});
if (words.length === 0 && !onS3) {
  await runStage("format and lint (biome check)", runTool("biome", ["check", "."]));
  await runStage("types (tsc)", runTool("tsc", []));
  await runStage("prose", runTool(process.execPath, ["scripts/prose.mjs"]));
}
await runStage(`tests (${files.length} files${onS3 ? ", on PostgreSQL and S3" : ""})`, runTests);

console.log(`\n── summary\n${summary.join("\n")}`);
if (totals !== null) console.log(`\n${totals.lines.join("\n")}`);
