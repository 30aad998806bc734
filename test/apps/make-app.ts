import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { getProgram } from "../../packages/sdk/test/support/runtimes.ts";
import { listBlocks } from "../../packages/site/test/support/doc-files.ts";
import { lastLines, runCaptured } from "../../scripts/run-captured.mjs";
import type { AppRow, Edit, ManagerName } from "./app-row.ts";

const here = import.meta.dirname;
const root = join(here, "../..");

/** Applications are made of the packages that were there at this moment. */
const packagesBefore = new Date("2026-11-15T00:00:00Z");

interface Manager {
  command: "npm" | "pnpm" | "yarn" | "bun";
  program: () => string;
  /** How it runs what a package has installed. */
  run: string[];
  /** What makes it choose among the packages of `packagesBefore`, and from the registry that npm uses. */
  env: (registry: string) => Record<string, string>;
  config?: Record<string, string>;
}

const module = (path: string) => () => join(here, "node_modules", path);
const ageMinutes = Math.ceil((Date.now() - packagesBefore.getTime()) / 60_000);

const managers: Record<ManagerName, Manager> = {
  npm: {
    command: "npm",
    program: () => "npm",
    run: ["exec", "--no", "--"],
    env: (registry) => ({
      npm_config_before: packagesBefore.toISOString(),
      npm_config_registry: registry,
    }),
  },
  pnpm: {
    command: "pnpm",
    program: module("pnpm/bin/pnpm.mjs"),
    run: ["exec"],
    env: (registry) => ({
      pnpm_config_minimum_release_age: String(ageMinutes),
      pnpm_config_registry: registry,
    }),
  },
  "yarn 1": {
    command: "yarn",
    program: module("yarn/bin/yarn.js"),
    run: ["run", "--silent"],
    env: (registry) => ({ YARN_REGISTRY: registry }),
  },
  "yarn 4": {
    command: "yarn",
    program: module("@yarnpkg/cli-dist/bin/yarn.js"),
    run: ["run"],
    env: (registry) => ({
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_NPM_MINIMAL_AGE_GATE: String(ageMinutes),
      YARN_ENABLE_TELEMETRY: "0",
    }),
  },
  bun: {
    command: "bun",
    program: () => getProgram("@oven/bun-linux-*/bin/bun"),
    run: ["run"],
    env: (registry) => ({ npm_config_registry: registry }),
    config: { "bunfig.toml": `[install]\nminimumReleaseAge = ${ageMinutes * 60}\n` },
  },
};

export interface Workshop {
  /** Beside one another, so that a generator makes its folder there. */
  folder: string;
  service: { url: string; apiKey: string };
  registry: string;
}

/** Generates an application, lets `upstow init` add uploads to it, gives it a page and builds it. */
export async function makeApp(row: AppRow, workshop: Workshop, say: (step: string) => void): Promise<string> {
  const name = row.name.replaceAll(" ", "-");
  const folder = join(workshop.folder, name);
  const manager = managers[row.manager ?? "npm"];
  const env = environment(row.manager ?? "npm", workshop);
  const [generator, ...args] = row.generator?.(name) ?? [];
  if (generator === undefined) mkdirSync(folder);
  else {
    say("generate");
    await run(join(here, "node_modules/.bin", generator), args, workshop.folder, env);
  }
  applyEdits(folder, { ...manager.config, ...row.files });
  say(`${row.manager ?? "npm"} install`);
  await run(manager.command, ["install"], folder, env);
  say(
    row.guide !== undefined
      ? "follow the guide"
      : row.initFrom === "by hand"
        ? "install the SDK"
        : "upstow init",
  );
  await addUploads(row, folder, {
    ...env,
    UPSTOW_URL: workshop.service.url,
    UPSTOW_API_KEY: workshop.service.apiKey,
  });
  applyEdits(folder, row.changes);
  if (row.handler !== undefined) applyEdits(folder, { [row.handler]: allowLargeFiles });
  for (const command of row.build) {
    say(command.join(" "));
    await run(manager.command, [...manager.run, ...command], folder, env);
  }
  return folder;
}

async function addUploads(row: AppRow, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const packages = `${env["UPSTOW_URL"]}/packages`;
  if (row.guide !== undefined) return followGuide(`docs/guides/${row.guide}.md`, folder, env);
  if (row.initFrom === "by hand") return run("npm", ["install", `${packages}/sdk.tgz`], folder, env);
  const commands = {
    checkout: [
      process.execPath,
      "--disable-warning=ExperimentalWarning",
      join(root, "packages/cli/src/main.ts"),
    ],
    instance: ["npx", "--yes", `${packages}/cli.tgz`],
  };
  const plan = async ([program = "", ...args]: string[]) => {
    const dryRun = [...args, "init", folder, "--dry-run", "--json"];
    return JSON.parse((await promisify(execFile)(program, dryRun, { cwd: dirname(folder), env })).stdout);
  };
  assert.deepEqual(await plan(commands.instance), await plan(commands.checkout), "what both would write");
  const [program = "", ...args] = commands[row.initFrom ?? "checkout"];
  await run(program, [...args, "init", folder, "--yes", "--json"], dirname(folder), env);
}

/** To the letter: every file that it shows, and every command in the order of the page. */
async function followGuide(page: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const fill = (text: string) =>
    text
      .replaceAll("http://localhost:4000", env["UPSTOW_URL"] ?? "")
      .replaceAll("svc_test_…", env["UPSTOW_API_KEY"] ?? "");
  for (const { language, code } of listBlocks(page)) {
    const path = language === "ini" ? envFile(page) : /^(?:\/\/|<!--) (\S+)/.exec(code)?.[1];
    if (path !== undefined) applyEdits(folder, { [path]: fill(code) });
  }
  const text = readFileSync(join(root, page), "utf8");
  for (const [, block, inline] of text.matchAll(/^```sh\n(.*?)```|`(npm install [^`]+)`/gms)) {
    await run("sh", ["-ec", fill(block ?? inline ?? "")], folder, env);
  }
}

const envFile = (page: string) => (page.includes("next") ? ".env.local" : ".env");

/** What init writes is for pictures of a few megabytes. */
function allowLargeFiles(text: string): string {
  const after = text.replace('"4MB"', '"100MB"').replace('"image/*"', '"*/*"');
  if (!after.includes('"100MB"') || !after.includes('"*/*"'))
    throw new Error(`not what init writes:\n${text}`);
  return after;
}

function applyEdits(folder: string, edits: Record<string, Edit>): void {
  for (const [path, edit] of Object.entries(edits)) {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, typeof edit === "string" ? edit : edit(readFileSync(full, "utf8")));
  }
}

/** This Node and this package manager, and nothing of a test run that a build might mistake for its own. */
function environment(name: ManagerName, { folder, registry }: Workshop): NodeJS.ProcessEnv {
  const { program, command, env } = managers[name];
  const bin = join(folder, `bin-${name.replace(" ", "-")}`);
  if (!existsSync(bin)) {
    mkdirSync(bin);
    if (name !== "npm") symlinkSync(program(), join(bin, command));
  }
  const { NODE_OPTIONS: _, NODE_ENV: __, UPSTOW_URL: ___, UPSTOW_API_KEY: ____, ...own } = process.env;
  const inherited = Object.fromEntries(Object.entries(own).filter(([key]) => !key.startsWith("npm_")));
  const path = [bin, dirname(process.execPath), own["PATH"]].join(delimiter);
  const quiet = { NEXT_TELEMETRY_DISABLED: "1", ASTRO_TELEMETRY_DISABLED: "1", npm_config_fund: "false" };
  return { ...inherited, ...quiet, npm_config_audit: "false", ...env(registry), PATH: path };
}

async function run(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { ok, output } = await runCaptured(program, args, { cwd, env });
  if (!ok) throw new Error(`${program} ${args.join(" ")} failed:\n${lastLines(output)}`);
}

export interface RunningSite {
  url: string;
  stop(): Promise<void>;
}

/** The application as it would run for its visitors. What it needs to know stands in the file that init wrote. */
export async function serveApp(
  row: AppRow,
  folder: string,
  workshop: Workshop,
  port: number,
): Promise<RunningSite> {
  const env = { ...environment(row.manager ?? "npm", workshop), NODE_ENV: "production" };
  const child = spawn(process.execPath, row.serve?.(port) ?? [], {
    cwd: folder,
    env: { ...env, PORT: String(port), HOST: "localhost" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = `http://localhost:${port}`;
  await untilServing(child, url).catch((error) => {
    child.kill("SIGKILL");
    throw error;
  });
  return {
    url,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

const startWithinMs = 120_000;

async function untilServing(child: ChildProcess, url: string): Promise<void> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += chunk));
  const giveUpAtMs = Date.now() + startWithinMs;
  for (;;) {
    const isServing = await fetch(url).then(
      async (answer) => (await answer.text()) !== "" && answer.ok,
      () => false,
    );
    if (isServing) return;
    if (child.exitCode !== null) throw new Error(`its server ended:\n${output}`);
    if (Date.now() > giveUpAtMs) throw new Error(`its server shows no page:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
