import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilServing } from "../harness/program.ts";

/** What the bare server says to everything: one answer that the server under test gave. */
export interface RecordedAnswer {
  status: number;
  headers: Record<string, string>;
  bodyBase64: string;
}

export interface Floor {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

// node:http adds these by itself.
const ownHeaders = ["date", "connection", "keep-alive"];

export async function recordAnswer(url: string, init: RequestInit): Promise<RecordedAnswer> {
  const response = await fetch(url, init);
  const headers = [...response.headers].filter(([name]) => !ownHeaders.includes(name));
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    bodyBase64: Buffer.from(await response.arrayBuffer()).toString("base64"),
  };
}

/** The least that Node can do for the same answer: no routing, no key, no database. */
export async function startFloor(folder: string, answer: RecordedAnswer): Promise<Floor> {
  const port = await pickFreePort();
  const program = startProgram({
    command: process.execPath,
    args: [fileURLToPath(new URL("floor-server.ts", import.meta.url)), String(port), JSON.stringify(answer)],
    outputFile: join(await mkdtemp(join(folder, "floor-")), "log"),
  });
  await waitUntilServing(program, `http://127.0.0.1:${port}/healthz`);
  return { port, pid: program.pid, stop: program.stop };
}
