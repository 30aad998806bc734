import { spawn } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { areExamplesReady, examplePackages, installExamples } from "../../scripts/install-examples.mjs";
import { withLock } from "../../scripts/lock.mjs";
import { lastLines, runCaptured } from "../../scripts/run-captured.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const folderOf = (name: string) => join(root, "examples", name);

/** With the packages of this repository as they are now, whatever its lockfile found when it was installed. */
export async function installExample(name: string): Promise<void> {
  await withLock(
    join(root, "examples/.install.lock"),
    () => {},
    async () => {
      if (!areExamplesReady(root, [name])) await installExamples(root, () => {}, [name]);
    },
  );
  for (const packageName of examplePackages) {
    const installed = join(folderOf(name), "node_modules/@upstow", packageName);
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
