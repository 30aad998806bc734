import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";

const TEST_TIMEOUT_MS = 120_000;
// Twice the cores: tests wait for disks, browsers and each other's answers.
const CONCURRENCY = availableParallelism() * 2;
const deadlineModule = new URL("test-file-deadline.mjs", import.meta.url).href;
// Every file is a process of its own: without it, half of the second that each takes to start goes into compiling.
const cacheFolder = fileURLToPath(new URL("../node_modules/.cache/upstow-tests", import.meta.url));
const durationsFile = join(cacheFolder, "durations.json");

const indent = (text) => text.trimEnd().replace(/^/gm, "    ");
const pathOf = (file) => relative(process.cwd(), file);
const inSeconds = (durationMs) => `${(durationMs / 1000).toFixed(1)} s`;

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
// only when it failed.
function createReporter(print) {
  const written = new Map();
  const seen = { skips: 0, emptyFiles: 0, durations: {}, failures: [] };
  const keep = ({ entryFile, message }) => written.set(entryFile, (written.get(entryFile) ?? "") + message);
  const finishFile = (file, ok, note) => {
    print(`${ok ? "✔" : "✖"} ${pathOf(file)} (${note})`);
    if (!ok && written.has(file)) print(indent(written.get(file)));
    if (!ok) written.delete(file);
    if (!ok) seen.failures.push(pathOf(file));
  };
  const handlers = {
    "test:stdout": keep,
    "test:stderr": keep,
    // node's totals are diagnostics too; those of a file tell what went wrong after its tests were over.
    "test:diagnostic": ({ entryFile, message }) => {
      if (entryFile !== undefined) keep({ entryFile, message: `${message}\n` });
    },
    "test:fail": (data) => {
      const { error } = data.details;
      if (isWholeFile(data) && error.failureType === "testCodeFailure") {
        finishFile(data.file, false, `ended with ${error.signal ?? `exit code ${error.exitCode}`}`);
      } else if (error.failureType !== "subtestsFailed") {
        print(describeFailure(data));
        seen.failures.push(describePlace(data));
      }
    },
    "test:pass": (data) => {
      if (isWholeFile(data)) {
        seen.emptyFiles++;
        finishFile(data.file, false, "no tests inside");
      }
      if (data.skip !== undefined && data.skip !== false) {
        seen.skips++;
        print(describeSkip(data));
      }
    },
    "test:summary": ({ file, success, counts, duration_ms: durationMs }) => {
      if (file === undefined) return;
      seen.durations[pathOf(file)] = Math.round(durationMs);
      finishFile(file, success, `${counts.tests} tests, ${inSeconds(durationMs)}`);
    },
  };
  return { handlers, seen };
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

function readDurations() {
  try {
    return JSON.parse(readFileSync(durationsFile, "utf8"));
  } catch {
    return {};
  }
}

/** The longest first, so that none of them is left running alone at the end; unknown ones may be long. */
function sortByDuration(files, durations) {
  const durationOf = (file) => durations[pathOf(file)] ?? Number.POSITIVE_INFINITY;
  return files.toSorted((a, b) => durationOf(b) - durationOf(a) || a.localeCompare(b));
}

/**
 * Runs test files with node:test, each in its own process, and remembers how long each took.
 * @param {string[]} files
 * @param {{ skipsFail: boolean, print: (text: string) => void }} options
 * @returns {Promise<{ ok: boolean, lines: string[] }>} `lines` name what failed, then come node's
 *   totals, then passed, failed and skipped
 */
export async function runTestFiles(files, { skipsFail, print }) {
  const { handlers, seen } = createReporter(print);
  const durations = readDurations();
  let whole = null;
  const events = run({
    files: sortByDuration(files, durations),
    concurrency: CONCURRENCY,
    timeout: TEST_TIMEOUT_MS,
    execArgv: ["--disable-warning=ExperimentalWarning", "--import", deadlineModule],
    env: { ...process.env, NODE_COMPILE_CACHE: cacheFolder },
  });
  for await (const { type, data } of events) {
    handlers[type]?.(data);
    if (type === "test:summary" && data.file === undefined) whole = data;
  }
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(durationsFile, JSON.stringify({ ...durations, ...seen.durations }, null, 1));
  const forbiddenSkips = skipsFail && seen.skips > 0;
  if (forbiddenSkips) print(`✖ ${seen.skips} skipped: in CI every test must run`);
  return {
    ok: whole.success && seen.emptyFiles === 0 && !forbiddenSkips,
    // node leaves a skipped suite out of its own number of skips.
    lines: [
      ...seen.failures.map((failure) => `✖ ${failure}`),
      ...describeTotals(whole.counts, whole.duration_ms, seen.skips),
    ],
  };
}
