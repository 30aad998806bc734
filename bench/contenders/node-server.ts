import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilListening } from "../harness/program.ts";

export interface NodeServer {
  port: number;
  pid: number;
  /** Its own. */
  directory: string;
  stop(): Promise<void>;
}

/** A server of this folder in a process of its own, which is told a port, a directory and whatever else it needs. */
export async function startNodeServer(folder: string, name: string, ...words: string[]): Promise<NodeServer> {
  const directory = await mkdtemp(join(folder, `${name}-`));
  const port = await pickFreePort();
  const program = startProgram({
    command: process.execPath,
    args: [fileURLToPath(new URL(`${name}.ts`, import.meta.url)), String(port), directory, ...words],
    outputFile: `${directory}.log`,
  });
  await waitUntilListening(program, port);
  return { port, pid: program.pid, directory, stop: program.stop };
}
