import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilListening } from "../harness/program.ts";
import { needPackage } from "./bench-packages.ts";

export interface Ipx {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export async function startIpx(photoPath: string): Promise<Ipx> {
  needPackage("ipx");
  const port = await pickFreePort();
  const program = startProgram({
    command: process.execPath,
    args: [fileURLToPath(new URL("ipx-server.ts", import.meta.url)), String(port), dirname(photoPath)],
    outputFile: join(dirname(photoPath), "ipx.log"),
  });
  await waitUntilListening(program, port);
  return { url: `http://127.0.0.1:${port}`, pid: program.pid, stop: program.stop };
}
