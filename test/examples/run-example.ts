import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildTarget, isStale } from "../../scripts/build-targets.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { lastLines, runCaptured } from "../../scripts/run-captured.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const folderOf = (name: string) => join(root, "examples", name);

const packages = ["sdk", "react"];

/** The packages as they are published; one test file builds them, the others wait for it. */
async function buildPackages(): Promise<void> {
  await withLock(
    join(root, "examples/.packages.lock"),
    () => {},
    async () => {
      for (const name of packages) {
        const target = {
          name: `example-${name}`,
          inputs: [`packages/${name}/src`, `packages/${name}/build.mjs`, "scripts/build-package.mjs"],
          output: `examples/packages/${name}`,
          command: ["node", `packages/${name}/build.mjs`, `examples/packages/${name}`],
        };
        if (isStale(root, target)) await buildTarget(root, target, () => {});
      }
    },
  );
}

/** What its lockfile names, when that has changed, and always the packages of this repository as they are now. */
export async function installExample(name: string): Promise<void> {
  await buildPackages();
  const folder = folderOf(name);
  const stamp = join(folder, "node_modules/.upstow-install");
  const lockfile = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lockfile) {
    await run(folder, "npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"]);
    writeFileSync(stamp, lockfile);
  }
  for (const packageName of packages) {
    const installed = join(folder, "node_modules/@upstow", packageName);
    if (!existsSync(installed)) continue;
    rmSync(installed, { recursive: true });
    cpSync(join(root, "examples/packages", packageName), installed, { recursive: true });
  }
}

export async function buildExample(name: string): Promise<void> {
  await run(folderOf(name), "npm", ["run", "build"]);
}

async function run(cwd: string, program: string, args: string[]): Promise<void> {
  const { ok, output } = await runCaptured(program, args, { cwd, env: environment() });
  if (!ok) throw new Error(`${program} ${args.join(" ")} in ${cwd} failed:\n${lastLines(output)}`);
}

/** The Node that runs this test, and nothing of a test run that a build might mistake for its own. */
function environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, NODE_ENV: ___, ...env } = process.env;
  const path = [join(process.execPath, ".."), env["PATH"]].join(delimiter);
  return { ...env, PATH: path, NEXT_TELEMETRY_DISABLED: "1", ...extra };
}

export interface RunningExample {
  url: string;
  stop(): Promise<void>;
}

/** Runs its server and waits until it answers. */
export async function startExample(
  name: string,
  args: string[],
  port: number,
  env: Record<string, string>,
): Promise<RunningExample> {
  const child = spawn(process.execPath, args, {
    cwd: folderOf(name),
    env: environment({ ...env, PORT: String(port), HOST: "localhost" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = `http://localhost:${port}`;
  for (;;) {
    const isThere = await fetch(url).then(
      async (answer) => (await answer.text()) !== "" && answer.ok,
      () => false,
    );
    if (isThere) break;
    if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
