import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilListening } from "../harness/program.ts";

export interface StreamServer {
  port: number;
  pid: number;
  /** What lies here is served at /, and what is PUT comes here. */
  filesDir: string;
  stop(): Promise<void>;
}

/** Plain streams of Node, the floor for bytes. */
export async function startStreams(folder: string): Promise<StreamServer> {
  const filesDir = await mkdtemp(join(folder, "streams-"));
  const port = await pickFreePort();
  const program = startProgram({
    command: process.execPath,
    args: [fileURLToPath(new URL("stream-server.ts", import.meta.url)), String(port), filesDir],
    outputFile: `${filesDir}.log`,
  });
  await waitUntilListening(program, port);
  return { port, pid: program.pid, filesDir, stop: program.stop };
}
