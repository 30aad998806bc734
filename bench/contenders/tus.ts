import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilListening } from "../harness/program.ts";

export interface TusServer {
  port: number;
  pid: number;
  path: string;
  stop(): Promise<void>;
}

const bench = fileURLToPath(new URL("..", import.meta.url));

/** @tus/server with its file store, as its README sets it up. */
export async function startTus(folder: string): Promise<TusServer> {
  installPackages();
  const directory = await mkdtemp(join(folder, "tus-"));
  const port = await pickFreePort();
  const path = "/files";
  const program = startProgram({
    command: process.execPath,
    args: [join(bench, "contenders/tus-server.ts"), String(port), directory, path],
    outputFile: `${directory}.log`,
  });
  await waitUntilListening(program, port);
  return { port, pid: program.pid, path, stop: program.stop };
}

/** What only the benchmarks compare with is not among the packages of the project. */
function installPackages(): void {
  if (existsSync(join(bench, "node_modules/@tus/server"))) return;
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: bench, stdio: "inherit" });
  if (status !== 0) throw new Error("npm ci in bench/ failed");
}
