import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { planProcesses } from "./plan-test-processes.mjs";

const TEST_TIMEOUT_MS = 120_000;
const deadlineModule = new URL("test-file-deadline.mjs", import.meta.url).href;
const groupModule = new URL("test-group.mjs", import.meta.url).href;
// Without it, half of the second that a process takes to start goes into compiling.
const cacheFolder = fileURLToPath(new URL("../node_modules/.cache/upstow-tests", import.meta.url));
const durationsOfMachine = join(cacheFolder, "durations.json");

const indent = (text) => text.trimEnd().replace(/^/gm, "    ");
const pathOf = (file) => relative(process.cwd(), file);
const inSeconds = (durationMs) => `${(durationMs / 1000).toFixed(1)} s`;

// To load the service takes a second, and to start a browser another.
const sharesProcess = (file) => !/^\/\/ Needs its own process: /m.test(readFileSync(file, "utf8"));

// A process that ended badly, or that held no test, is reported as a test named after its file.
const isWholeFile = (data) => data.nesting === 0 && resolve(data.name) === data.file;

const describePlace = ({ name, file, line }) =>
  file === undefined ? name : `${name} (${pathOf(file)}:${line ?? 1})`;

function describeFailure(data) {
  const { error } = data.details;
  return `  ✖ ${describePlace(data)}\n${indent(inspect(error.cause ?? error))}`;
}

function describeSkip({ name, skip }) {
  return `  ﹣ skipped: ${name}: ${typeof skip === "string" && skip !== "" ? skip : "no reason given"}`;
}

// One line for each file, every failure in full and every skip with its reason. What a file wrote itself is shown
// only when it failed; files that share a process share that as well.
function createReporter(print, groups) {
  const written = new Map();
  const seen = { skips: 0, durations: {}, failures: [] };
  const unfinished = new Map([...groups].map(([entry, files]) => [entry, new Set(files)]));
  const testCounts = new Map();
  const keep = ({ entryFile, message }) => written.set(entryFile, (written.get(entryFile) ?? "") + message);
  const printWritten = (entryFile) => {
    if (written.has(entryFile)) print(indent(written.get(entryFile)));
    written.delete(entryFile);
  };
  const finishFile = (file, ok, note) => {
    print(`${ok ? "✔" : "✖"} ${pathOf(file)} (${note})`);
    if (!ok) seen.failures.push(pathOf(file));
    if (!ok) printWritten(file);
  };
  const finishTests = (file, ok, testCount, durationMs) => {
    seen.durations[pathOf(file)] = Math.round(durationMs);
    const note = testCount === 0 ? "no tests inside" : `${testCount} tests, ${inSeconds(durationMs)}`;
    finishFile(file, ok && testCount > 0, note);
  };
  const finishGroup = (entry, ok, note) => {
    const left = unfinished.get(entry);
    for (const file of left) finishFile(file, false, `not finished: its process ${note}`);
    if (!ok && (left.size > 0 || written.has(entry))) {
      const name = `the process of ${groups.get(entry).map(pathOf).join(", ")}`;
      print(`✖ ${name} (${note})`);
      printWritten(entry);
      if (left.size === 0) seen.failures.push(name);
    }
    left.clear();
  };
  /** A file that shares its process is a suite of it. */
  const finishGrouped = ({ name: file, entryFile, details }, ok) => {
    const { error } = details;
    unfinished.get(entryFile).delete(file);
    const testCount = testCounts.get(entryFile) ?? 0;
    testCounts.delete(entryFile);
    if (!ok && error.failureType !== "subtestsFailed") {
      finishFile(file, false, "failed outside of its tests");
      print(indent(inspect(error.cause ?? error)));
    } else {
      finishTests(file, ok, testCount, details.duration_ms);
    }
  };
  const countGrouped = ({ entryFile, details }) => {
    if (details.type !== "suite") testCounts.set(entryFile, (testCounts.get(entryFile) ?? 0) + 1);
  };
  const isGrouped = ({ entryFile, nesting }) => groups.has(entryFile) && nesting === 0;
  const handlers = {
    "test:stdout": keep,
    "test:stderr": keep,
    // node's totals are diagnostics too; those of a file tell what went wrong after its tests were over.
    "test:diagnostic": ({ entryFile, message }) => {
      if (entryFile !== undefined) keep({ entryFile, message: `${message}\n` });
    },
    "test:fail": (data) => {
      const { error } = data.details;
      if (isGrouped(data)) return finishGrouped(data, false);
      countGrouped(data);
      if (isWholeFile(data) && error.failureType === "testCodeFailure") {
        const note = `ended with ${error.signal ?? `exit code ${error.exitCode}`}`;
        if (groups.has(data.file)) finishGroup(data.file, false, note);
        else finishFile(data.file, false, note);
      } else if (error.failureType !== "subtestsFailed") {
        print(describeFailure(data));
        seen.failures.push(describePlace(data));
      }
    },
    "test:pass": (data) => {
      if (isGrouped(data)) return finishGrouped(data, true);
      countGrouped(data);
      if (isWholeFile(data)) finishTests(data.file, true, 0, 0);
      if (data.skip !== undefined && data.skip !== false) {
        seen.skips++;
        print(describeSkip(data));
      }
    },
    "test:summary": ({ file, success, counts, duration_ms: durationMs }) => {
      if (file === undefined) return;
      if (groups.has(file)) finishGroup(file, success, "ended");
      else finishTests(file, success, counts.tests, durationMs);
    },
  };
  const finishGroups = () => {
    for (const entry of groups.keys()) finishGroup(entry, true, "ended");
  };
  return { handlers, seen, finishGroups };
}

function describeTotals(counts, durationMs, skipCount) {
  return [
    `ℹ tests ${counts.tests}`,
    `ℹ suites ${counts.suites}`,
    `ℹ pass ${counts.passed}`,
    `ℹ fail ${counts.failed}`,
    `ℹ cancelled ${counts.cancelled}`,
    `ℹ skipped ${counts.skipped}`,
    `ℹ todo ${counts.todo}`,
    `ℹ duration_ms ${durationMs}`,
    `${counts.passed} passed, ${counts.failed + counts.cancelled} failed, ${skipCount} skipped`,
  ];
}

function readDurations(durationsFile) {
  try {
    return JSON.parse(readFileSync(durationsFile, "utf8"));
  } catch {
    return {};
  }
}

/** Milliseconds of those that take long without being large. Only the order matters, on a machine that knows no better. */
const knownToBeLong = {
  "packages/server/test/on-s3.test.ts": 35_000,
  "packages/server/test/integrity.test.ts": 55_000,
  "packages/server/test/private-files-killed.test.ts": 50_000,
  "packages/server/test/customer-storage.test.ts": 45_000,
  "packages/server/src/storage/s3/s3-store.contract.test.ts": 45_000,
  "packages/server/src/serving/images/render/render-pool.test.ts": 40_000,
  "packages/server/test/account-rates.test.ts": 38_000,
  "test/torture/fuzz.test.ts": 36_000,
  "packages/server/src/webhooks/crash.test.ts": 35_000,
  "packages/server/src/storage/s3/s3-store.test.ts": 35_000,
  "packages/server/test/transforms-variants.test.ts": 35_000,
  "packages/site/test/site.test.ts": 33_000,
  "packages/server/test/private-files-bucket.test.ts": 30_000,
  "packages/server/test/s3-storage.test.ts": 30_000,
  "packages/cli/test/migrate-storage.test.ts": 28_000,
  "packages/server/test/model.test.ts": 28_000,
  "packages/server/test/config.test.ts": 27_000,
  "packages/server/test/uploads-states.test.ts": 27_000,
  "packages/server/test/uploads-guards.test.ts": 26_000,
  "packages/server/test/transforms-cases.test.ts": 26_000,
  "packages/server/test/database-postgres.test.ts": 26_000,
  "packages/server/test/account-quota.test.ts": 25_000,
  "packages/dashboard/test/look/pages.test.ts": 25_000,
  "packages/server/src/serving/images/render/render-fidelity.test.ts": 24_000,
  "packages/gallery/test/gallery.test.ts": 22_000,
  "packages/react/test/barriers.test.ts": 20_000,
};

/** What was never run here is guessed from the size of the file: a byte takes a millisecond or more. */
const createEstimate = (durations) => (file) =>
  durations[pathOf(file)] ?? knownToBeLong[pathOf(file)] ?? statSync(file).size;

/** @returns {Map<string, string[]>} the files to start, and the test files that each of them runs */
function writeEntries(processes, folder) {
  const entries = new Map();
  for (const files of processes) {
    const absolute = files.map((file) => resolve(file));
    if (files.length === 1) {
      entries.set(absolute[0], absolute);
    } else {
      const entry = join(folder, `group-${entries.size}.mjs`);
      const code = `import { runGroup } from ${JSON.stringify(groupModule)};\nrunGroup(${JSON.stringify(absolute)});\n`;
      writeFileSync(entry, code);
      entries.set(entry, absolute);
    }
  }
  return entries;
}

/**
 * Runs test files with node:test, several in a process where they may share one, and remembers how long each took.
 * @param {string[]} files
 * @param {{ skipsFail: boolean, print: (text: string) => void, concurrency?: number, durationsFile?: string }} options `concurrency`: how many
 *   processes; three for each core, because tests wait for disks, browsers and each other's answers
 * @returns {Promise<{ ok: boolean, lines: string[] }>} `lines` name what failed, then come node's
 *   totals, then passed, failed and skipped
 */
export async function runTestFiles(
  files,
  { skipsFail, print, concurrency = availableParallelism() * 3, durationsFile = durationsOfMachine },
) {
  const durations = readDurations(durationsFile);
  const durationOf = createEstimate(durations);
  const processes = planProcesses(files, { sharesProcess, durationOf, concurrency });
  const folder = mkdtempSync(join(tmpdir(), "upstow-test-groups-"));
  const entries = writeEntries(processes, folder);
  const groups = new Map([...entries].filter(([, { length }]) => length > 1));
  const { handlers, seen, finishGroups } = createReporter(print, groups);
  let whole = null;
  const events = run({
    files: [...entries.keys()],
    concurrency,
    timeout: TEST_TIMEOUT_MS,
    execArgv: ["--disable-warning=ExperimentalWarning", "--import", deadlineModule],
    env: { ...process.env, NODE_COMPILE_CACHE: cacheFolder },
  });
  for await (const { type, data } of events) {
    handlers[type]?.(data);
    if (type === "test:summary" && data.file === undefined) whole = data;
  }
  finishGroups();
  rmSync(folder, { recursive: true });
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(durationsFile, JSON.stringify({ ...durations, ...seen.durations }, null, 1));
  const forbiddenSkips = skipsFail && seen.skips > 0;
  if (forbiddenSkips) print(`✖ ${seen.skips} skipped: in CI every test must run`);
  return {
    ok: whole.success && seen.failures.length === 0 && !forbiddenSkips,
    // node leaves a skipped suite out of its own number of skips.
    lines: [
      ...seen.failures.map((failure) => `✖ ${failure}`),
      ...describeTotals(whole.counts, whole.duration_ms, seen.skips),
    ],
  };
}
