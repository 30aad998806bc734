import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../../../test/support/free-port.ts";
import { readStartArguments } from "../../../../test/support/start-command.ts";
import { type Answer, type CallOptions, callApi } from "./start-app.ts";

const readyLine = /Upstow is ready at (\S+)\n/;
const startArguments = readStartArguments(fileURLToPath(new URL("../../../../", import.meta.url)));

export interface ServerProcess {
  url: string;
  process: ChildProcess;
  /** What it wrote until it was ready. */
  output: string;
  /** What the first start showed; empty on a later one. */
  keys: { live: string; projectId: string };
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | string>;
}

export function spawnMain(env: Record<string, string>, stdout: "pipe" | number = "pipe"): ChildProcess {
  return spawn(process.execPath, startArguments, {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", stdout, "pipe"],
  });
}

/** The program itself, as `npm start` runs it. It ends with the test at the latest. */
export async function spawnServer(env: Record<string, string>): Promise<ServerProcess> {
  const port = env["UPSTOW_PORT"] ?? String(await pickFreePort());
  const child = spawnMain({ UPSTOW_LOG_LEVEL: "error", ...env, UPSTOW_PORT: port });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "exit").then(([code, signal]) => {
    process.off("exit", kill);
    return (code ?? signal) as number | string;
  });
  const output = await readUntilReady(child);
  const url = readyLine.exec(output)?.[1] ?? "";
  return {
    url,
    process: child,
    output,
    keys: {
      live: /Live key\s+(svc_live_\w+)/.exec(output)?.[1] ?? "",
      projectId: /Project\s+(\w+)/.exec(output)?.[1] ?? "",
    },
    call: (method, path, options) => callApi(url, method, path, options),
    ended,
  };
}

async function readUntilReady(child: ChildProcess): Promise<string> {
  let output = "";
  child.stderr?.on("data", (chunk) => {
    output += chunk;
  });
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    output += chunk;
    // The lines of a first start come in one write, and the last one ends with the test key.
    if (readyLine.test(output)) break;
  }
  child.stdout?.resume();
  if (!readyLine.test(output)) throw new Error(`the server did not start: ${output}`);
  return output;
}
