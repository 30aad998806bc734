import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilListening } from "../harness/program.ts";
import { needPackage } from "./bench-packages.ts";

export interface TusServer {
  port: number;
  pid: number;
  path: string;
  stop(): Promise<void>;
}

const bench = fileURLToPath(new URL("..", import.meta.url));

/** @tus/server with its file store, as its README sets it up. */
export async function startTus(folder: string): Promise<TusServer> {
  needPackage("@tus/server");
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
