import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { listBelow } from "./process-usage.ts";

/** A server in a process of its own, whose output goes to a file: reading a pipe would cost us CPU meanwhile. */
export interface Program {
  pid: number;
  hasEnded(): boolean;
  readOutput(): string;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

export interface ProgramOptions {
  command: string;
  args: string[];
  env?: Record<string, string>;
  outputFile: string;
}

const running = new Set<ChildProcess>();
// However the benchmark ends, nothing that it started outlives it.
process.on("exit", killPrograms);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

export function startProgram({ command, args, env = {}, outputFile }: ProgramOptions): Program {
  const output = openSync(outputFile, "a");
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", output, output] });
  closeSync(output);
  running.add(child);
  const ended = once(child, "exit").then(() => running.delete(child));
  if (child.pid === undefined) throw new Error(`${command} cannot be started`);
  return {
    pid: child.pid,
    hasEnded: () => !running.has(child),
    readOutput: () => readFileSync(outputFile, "utf8"),
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Whatever still runs, with the workers that it started: those of nginx would go on without their master. */
export function killPrograms(): void {
  for (const { pid } of running) {
    if (pid === undefined) continue;
    for (const below of [...listBelow(pid), pid]) {
      try {
        process.kill(below, "SIGKILL");
      } catch {
        // It ended meanwhile.
      }
    }
  }
}

const pollMs = 5;
const patienceMs = 120_000;

/** Waits for an answer with status 200. Returns the milliseconds that it took. */
export function waitUntilServing(program: Program, url: string): Promise<number> {
  return waitUntil(program, () =>
    fetch(url).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
}

export function waitUntilListening(program: Program, port: number): Promise<number> {
  return waitUntil(program, async () => {
    const socket = connect(port, "127.0.0.1");
    const isListening = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isListening;
  });
}

async function waitUntil(program: Program, isReady: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < patienceMs && !program.hasEnded()) {
    if (await isReady()) return performance.now() - startMs;
    await sleep(pollMs);
  }
  throw new Error(`the server does not answer:\n${program.readOutput()}`);
}
