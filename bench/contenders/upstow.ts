import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pickFreePort } from "../../test/support/free-port.ts";
import { readStartArguments } from "../../test/support/start-command.ts";
import { type Program, startProgram, waitUntilServing } from "../harness/program.ts";

export interface UpstowOptions {
  /** Where its data directory is made. */
  folder: string;
  /** A PostgreSQL address; the embedded database when left out. */
  databaseUrl?: string;
  logLevel?: "warn" | "info";
  env?: Record<string, string>;
  nodeOptions?: string[];
  /** Other sources than these. */
  root?: string;
}

export interface Upstow {
  port: number;
  pid: number;
  url: string;
  key: string;
  projectId: string;
  /** Of the link to the dashboard, which works once. */
  loginToken: string;
  dataDir: string;
  stop(): Promise<void>;
}

const ownRoot = fileURLToPath(new URL("../..", import.meta.url));
const cliMain = "packages/cli/src/main.ts";
const endless = "1000000000";

/** Starts the server as `npm start` does, on a data directory that may exist, and waits until it serves. */
export async function launch(
  dataDir: string,
  options: Omit<UpstowOptions, "folder">,
): Promise<{ program: Program; port: number; url: string; readyMs: number }> {
  const port = await pickFreePort();
  const url = `http://127.0.0.1:${port}`;
  const program = startProgram({
    command: process.execPath,
    args: [...(options.nodeOptions ?? []), ...readStartArguments(options.root ?? ownRoot)],
    env: {
      ...environment(dataDir, options),
      UPSTOW_PUBLIC_URL: url,
      ...options.env,
      UPSTOW_PORT: String(port),
    },
    outputFile: `${dataDir}.log`,
  });
  const readyMs = await waitUntilServing(program, `${url}/healthz`);
  return { program, port, url, readyMs };
}

/** A fresh installation without rate limits. */
export async function startUpstow(options: UpstowOptions): Promise<Upstow> {
  const dataDir = await mkdtemp(join(options.folder, "upstow-"));
  const { program, port, url } = await launch(dataDir, options);
  const welcome = await readWelcome(program);
  await liftRateLimits({ ...environment(dataDir, options), ...options.env }, options.root ?? ownRoot);
  return { port, pid: program.pid, url, dataDir, ...welcome, stop: program.stop };
}

/** The same installation in a new process. */
export async function relaunch(
  before: Upstow,
  options: UpstowOptions,
): Promise<{ upstow: Upstow; readyMs: number }> {
  const { program, port, url, readyMs } = await launch(before.dataDir, options);
  return { upstow: { ...before, port, url, pid: program.pid, stop: program.stop }, readyMs };
}

/** One more instance over a database that has an installation. */
export async function joinUpstow(options: UpstowOptions): Promise<Pick<Upstow, "port" | "pid" | "stop">> {
  const dataDir = await mkdtemp(join(options.folder, "upstow-"));
  const { program, port } = await launch(dataDir, options);
  return { port, pid: program.pid, stop: program.stop };
}

function environment(dataDir: string, options: Omit<UpstowOptions, "folder">): Record<string, string> {
  return {
    UPSTOW_HOST: "127.0.0.1",
    UPSTOW_DATA_DIR: dataDir,
    UPSTOW_LOG_LEVEL: options.logLevel ?? "warn",
    ...(options.databaseUrl === undefined ? {} : { UPSTOW_DATABASE_URL: options.databaseUrl }),
  };
}

/** It answers probes a moment before it has shown its keys. */
async function readWelcome(program: Program): Promise<Pick<Upstow, "key" | "projectId" | "loginToken">> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const output = program.readOutput();
    const key = /^ +Live key +(\S+)$/m.exec(output)?.[1];
    const projectId = /^ +Project +(\S+)$/m.exec(output)?.[1];
    // Not there in the first versions.
    const loginToken = /\/dashboard\/claim#(\S+)/.exec(output)?.[1];
    if (key !== undefined && projectId !== undefined) return { key, projectId, loginToken: loginToken ?? "" };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the first start showed no key:\n${program.readOutput()}`);
}

async function liftRateLimits(env: Record<string, string>, root: string): Promise<void> {
  const limits = ["--rate-upload", "--rate-transform", "--rate-other"].flatMap((name) => [name, endless]);
  await promisify(execFile)(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      join(root, cliMain),
      "account",
      "set-limits",
      "owner@localhost",
      ...limits,
    ],
    { cwd: root, env: { ...process.env, ...env } },
  );
}
