import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { startBrowser } from "../../packages/server/test/support/browser.ts";
import { startApp } from "../../packages/server/test/support/start-app.ts";
import { lastLines, runCaptured } from "../../scripts/run-captured.mjs";
import { readOrExplain, UsageError } from "../support/command-line.ts";
import { pickFreePort } from "../support/free-port.ts";
import type { AppRow } from "./app-row.ts";
import { apps } from "./apps.ts";
import { compareToReference, driveApp, type Looks, largeFileBytes, type Visit } from "./drive-app.ts";
import { makeApp, serveApp, type Workshop } from "./make-app.ts";
import { serveReference } from "./reference.ts";
import { type Outcome, saveOutcome } from "./save-outcome.ts";

const usage = `npm run test:apps -- [word …] [--keep] [--save]

Applications whose name has one of the words; all of them where there is none:
${apps.map(({ name }) => `  ${name}`).join("\n")}

--keep   leaves the applications and their pictures where they were made
--save   writes the outcomes to the table in test/apps/README.md`;

/** Another hinting of letters stays well below; a reset that reaches our parts does not. */
const toleratedShare = 0.05;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const secondsSince = (startedMs: number) => `${Math.round((Date.now() - startedMs) / 1000)} s`;

function readCommandLine() {
  const options = {
    keep: { type: "boolean", default: false },
    save: { type: "boolean", default: false },
  } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const wanted = apps.filter(
    ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
  );
  if (wanted.length === 0) throw new UsageError(`no application is called ${positionals.join(" or ")}`);
  return { wanted, isKept: values.keep, isSaved: values.save };
}

interface Tools {
  workshop: Workshop;
  browser: Browser;
  visit: Pick<Visit, "serviceUrl" | "largeFile">;
  reference: Looks;
}

async function test(row: AppRow, tools: Tools): Promise<Outcome> {
  const startedMs = Date.now();
  const outcome: Outcome = { name: row.name, took: "", difference: "–", error: null };
  const say = (step: string) => print(`  ${row.name}: ${step} (${secondsSince(startedMs)})`);
  try {
    const folder = await makeApp(row, tools.workshop, say);
    if (row.serve === undefined) return { ...outcome, took: secondsSince(startedMs) };
    const site = await serveApp(row, folder, tools.workshop, await pickFreePort());
    try {
      say("drive it in Chromium");
      const hasComponents = row.hasComponents !== false;
      const isResumed = row.guide === undefined;
      const looks = await driveApp(tools.browser, {
        ...tools.visit,
        url: site.url,
        hasComponents,
        isResumed,
      });
      if (looks !== null) outcome.difference = await expectSameLooks(looks, tools, row.name);
    } finally {
      await site.stop();
    }
  } catch (error) {
    outcome.error = (error as Error).message;
    print(`✖ ${row.name}: ${outcome.error}`);
  }
  return { ...outcome, took: secondsSince(startedMs) };
}

async function expectSameLooks(looks: Looks, { reference, workshop }: Tools, name: string): Promise<string> {
  await savePictures(workshop.folder, name, looks);
  const share = await compareToReference(looks, reference);
  const difference = `${(share * 100).toFixed(1)}%`;
  if (share > toleratedShare)
    throw new Error(`${difference} of the component looks different from the reference`);
  return difference;
}

async function savePictures(folder: string, name: string, looks: Looks): Promise<void> {
  for (const [scheme, picture] of Object.entries(looks)) {
    await writeFile(join(folder, "pictures", `${name} ${scheme}.png`), picture);
  }
}

async function takeReference(workshop: Workshop, browser: Browser, visit: Tools["visit"]): Promise<Looks> {
  const site = await serveReference(workshop);
  try {
    const looks = await driveApp(browser, { ...visit, url: site.url, hasComponents: true, isResumed: true });
    if (looks === null) throw new Error("the reference has no components");
    await savePictures(workshop.folder, "reference", looks);
    return looks;
  } finally {
    await site.stop();
  }
}

/** Generators and package managers have a lockfile of their own. */
async function installTools(): Promise<void> {
  const here = import.meta.dirname;
  const [lockfile, stamp] = [join(here, "package-lock.json"), join(here, "node_modules/.upstow-install")];
  const wanted = createHash("sha256").update(readFileSync(lockfile)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  print("installing generators and package managers …");
  const { ok, output } = await runCaptured("npm", ["ci", "--prefer-offline"], { cwd: here });
  if (!ok) throw new Error(`npm ci in test/apps failed:\n${lastLines(output)}`);
  writeFileSync(stamp, wanted);
}

async function writeLargeFile(folder: string): Promise<Visit["largeFile"]> {
  const bytes = randomBytes(largeFileBytes);
  const path = join(folder, "large.bin");
  await writeFile(path, bytes);
  return { path, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function printSummary(outcomes: Outcome[]): void {
  const widest = Math.max(...outcomes.map(({ name }) => name.length));
  print(
    "\n  application".padEnd(widest + 6) + "time".padStart(6) + "difference from the reference".padStart(32),
  );
  for (const { name, took, difference, error } of outcomes) {
    print(
      `${error === null ? "✔" : "✖"} ${name.padEnd(widest + 2)} ${took.padStart(6)} ${difference.padStart(31)}`,
    );
  }
}

const { wanted, isKept, isSaved } = readOrExplain(usage, readCommandLine);
await installTools();
const folder = await mkdtemp(join(tmpdir(), "upstow-apps-"));
await mkdir(join(folder, "pictures"));
const [service, browser] = await Promise.all([startApp({ database: "sqlite" }), startBrowser()]);
try {
  const { output } = await runCaptured("npm", ["config", "get", "registry"]);
  const registry = output.trim().split("\n").at(-1) ?? "";
  const workshop = { folder, registry, service: { url: service.url, apiKey: service.owner.live } };
  const visit = { serviceUrl: service.url, largeFile: await writeLargeFile(folder) };
  const reference = await takeReference(workshop, browser, visit);
  const outcomes: Outcome[] = [];
  for (const [i, row] of wanted.entries()) {
    print(`${i + 1}/${wanted.length} ${row.name}`);
    const outcome = await test(row, { workshop, browser, visit, reference });
    outcomes.push(outcome);
    if (isSaved) saveOutcome(outcome, new Date());
  }
  printSummary(outcomes);
  if (outcomes.some(({ error }) => error !== null)) process.exitCode = 1;
} finally {
  await browser.close();
  await service.close();
  if (isKept) print(`kept in ${folder}`);
  else await rm(folder, { recursive: true });
}
