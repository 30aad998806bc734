import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../../server/src/config.ts";
import type { Check } from "../../../server/src/ops/doctor/check.ts";
import type { TestApp } from "../../../server/test/support/start-app.ts";
import { examineInstallation } from "../../src/examine-installation.ts";
import { program } from "../../src/program.ts";
import { runCli } from "../../src/run-cli.ts";

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** The command in this process, which saves half a second each time. It sees nothing of this environment but PATH. */
export async function runUpstow(args: string[], env: Record<string, string>, input = ""): Promise<Run> {
  const { ended } = callUpstow(args, env, input);
  return ended;
}

/** The same for those who look at what it shows meanwhile, or end it with a signal. */
export function callUpstow(args: string[], env: Record<string, string>, input: string | Readable = "") {
  const shown = { stdout: "", stderr: "" };
  const collect = (name: keyof typeof shown) =>
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        shown[name] += chunk;
        done();
      },
    });
  const io = Object.assign(new EventEmitter(), {
    env: { PATH: process.env["PATH"], ...env },
    stdin: typeof input === "string" ? Readable.from(input === "" ? [] : [input]) : input,
    stdout: collect("stdout"),
    stderr: collect("stderr"),
  });
  const ended = runCli(args, io, program).then((code) => ({ code, ...shown }));
  return { shown, ended, signal: (name: NodeJS.Signals) => void io.emit(name) };
}

/** The command in a process of its own, where the process is what the test is about. Its stdin stays open with null. */
export function spawnUpstow(
  args: string[],
  env: Record<string, string>,
  input: string | null = "",
): { child: ChildProcess; ended: Promise<Run> } {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (input !== null) child.stdin.end(input);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const run = async () => {
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, stdout, stderr };
  };
  return { child, ended: run() };
}

/** What an operator's shell has set beside a running service. */
export function envOf({ app: { deps } }: TestApp): Record<string, string> {
  const { host, port, dataDir, databaseUrl } = deps.config;
  return {
    UPSTOW_HOST: host,
    UPSTOW_PORT: String(port),
    UPSTOW_DATA_DIR: dataDir,
    ...(databaseUrl === null ? {} : { UPSTOW_DATABASE_URL: databaseUrl }),
  };
}

/** What the doctor says of everything but renderers. */
export function examine(env: Record<string, string>): Promise<Check[]> {
  return examineInstallation(() => readConfig(env), { withRenderers: false });
}

/** What the doctor says of a move or calls broken, each with the way to mend it. */
export async function examineMove(env: Record<string, string>): Promise<string> {
  const checks = await examine(env);
  const about = checks.filter(({ name, status }) => name === "move" || status === "failed");
  return about.map(({ status, message, fix }) => `${status}: ${message} ${fix ?? ""}`.trim()).join("\n");
}

/** Runs with --json, expects success and returns what was printed. */
// biome-ignore lint/suspicious/noExplicitAny: every command prints another shape
export async function runJson(args: string[], env: Record<string, string>): Promise<any> {
  const run = await runUpstow([...args, "--json"], env);
  if (run.code !== 0) throw new Error(`upstow ${args.join(" ")} failed: ${run.stderr}`);
  return JSON.parse(run.stdout);
}

/** Runs with --json, expects failure and returns its exit code and error. */
export async function runFailing(args: string[], env: Record<string, string>) {
  const run = await runUpstow([...args, "--json"], env);
  if (run.stdout !== "") throw new Error(`a failure wrote to stdout: ${run.stdout}`);
  const { error } = JSON.parse(run.stderr) as { error: { code: string; message: string } };
  return { exitCode: run.code, ...error };
}

/** Reads the whole body: one that is left unread holds its connection, and so the end of the service. */
export async function readAll(url: string): Promise<{ status: number; bytes: Buffer }> {
  const answer = await fetch(url);
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
}
