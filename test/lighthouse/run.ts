// Lighthouse over the welcome page, a docs page and the dashboard's files, each at least 95 in every category:
//   npx node test/lighthouse/run.ts [word of a name]
// Brings its own packages along. Performance depends on the machine: judge it on one that is idle.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addSampleData } from "../../packages/dashboard/test/support/sample-data.ts";
import { createSessionToken } from "../../packages/server/test/support/console-client.ts";
import { startApp } from "../../packages/server/test/support/start-app.ts";
import { findCommand } from "../../scripts/debian-packages.mjs";

const folder = import.meta.dirname;
const least = 95;
const wanted = process.argv[2] ?? "";
const categories = ["performance", "accessibility", "best-practices", "seo"];

async function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${command} ${args[0]} ended with ${code}`);
}

interface Report {
  categories: Record<string, { score: number; auditRefs: { id: string }[] }>;
  audits: Record<string, Audit>;
}

interface Audit {
  score: number | null;
  title: string;
  displayValue?: string;
  numericValue?: number;
  details?: { items?: unknown };
}

/** What the performance score is made of, good or bad. */
const metrics = {
  "first-contentful-paint": "FCP",
  "largest-contentful-paint": "LCP",
  "total-blocking-time": "TBT",
  "cumulative-layout-shift": "CLS",
  "speed-index": "SI",
};

function describeFlaws({ categories: all, audits }: Report, name: string): string[] {
  return (all[name]?.auditRefs ?? []).flatMap(({ id }) => {
    const { score = null, title = "", displayValue = "", details } = audits[id] ?? {};
    if (score === null || score >= 0.9) return [];
    // Of some audits the items are no list.
    const items: { description?: string }[] = Array.isArray(details?.items) ? details.items : [];
    const described = items.flatMap(({ description }) => description ?? []);
    return [`  ${name}: ${title} ${displayValue}`, ...described.map((text) => `    ${text}`)];
  });
}

async function measure(url: string, headers: Record<string, string>, scratch: string): Promise<number[]> {
  const [headersFile, report] = [join(scratch, "headers.json"), join(scratch, "report.json")];
  await writeFile(headersFile, JSON.stringify(headers));
  const cli = join(folder, "node_modules/lighthouse/cli/index.js");
  const flags = [
    "--quiet",
    "--preset=desktop",
    "--output=json",
    `--output-path=${report}`,
    `--only-categories=${categories.join()}`,
    `--extra-headers=${headersFile}`,
    "--chrome-flags=--headless --no-sandbox --disable-dev-shm-usage",
  ];
  const chromium = findCommand("chromium") ?? findCommand("chromium-headless-shell") ?? "";
  await run(process.execPath, [cli, url, ...flags], { ...process.env, CHROME_PATH: chromium });
  const result = JSON.parse(await readFile(report, "utf8"));
  for (const name of categories)
    for (const line of describeFlaws(result, name)) process.stdout.write(`${line}\n`);
  const measured = Object.entries(metrics).map(
    ([id, short]) => `${short} ${Number(result.audits[id].numericValue.toFixed(3))}`,
  );
  process.stdout.write(`  ${measured.join(", ")}\n`);
  return categories.map((name) => Math.round(result.categories[name].score * 100));
}

if (!existsSync(join(folder, "node_modules"))) await run("npm", ["ci", "--no-audit", "--no-fund"]);
const scratch = await mkdtemp(join(tmpdir(), "upstow-lighthouse-"));
const app = await startApp({ database: "sqlite" });
try {
  await addSampleData(app, app.owner, 60);
  const cookie = `upstow_session=${await createSessionToken(app, app.owner.accountId)}`;
  for (const [name, path] of [
    ["welcome", "/"],
    ["docs page", "/docs/guides/next"],
    ["dashboard files", `/dashboard/${app.owner.projectId}/live/files`],
  ] as const) {
    if (!name.includes(wanted)) continue;
    const scores = await measure(app.url + path, { cookie }, scratch);
    const shown = categories.map((category, i) => `${category} ${scores[i]}`).join(", ");
    process.stdout.write(`${name}: ${shown}\n`);
    if (scores.some((score) => score < least)) process.exitCode = 1;
  }
} finally {
  await app.close();
  await rm(scratch, { recursive: true, force: true });
}
