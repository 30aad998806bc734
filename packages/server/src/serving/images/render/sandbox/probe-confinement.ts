import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { readFrames } from "../frame-channel.ts";
import { launchRenderer } from "./launch-renderer.ts";
import type { Layers } from "./layers.ts";

/** Things that a renderer must not reach. */
export interface ProbeTargets {
  files: string[];
  folders: string[];
  pid: number;
  /** Something listens there. */
  port: number;
}

export interface ConfinementReport {
  /** Actions that should have failed but succeeded, in words. */
  reached: string[];
  environment: string[];
  /** As `number: kind`, without those that node opens for its event loop. */
  descriptors: string[];
  folder: string;
  userId: number;
  /** As reported by the kernel. */
  limits: string;
}

/** Ignored by everything that doesn't listen for it. */
export const probeSignal = "SIGURG";
export const signalling = "signal the service";

const scriptPath = fileURLToPath(new URL("./probe-script.ts", import.meta.url));
const cpuSec = 60;

/** Starts a break-out attempt exactly as renderers are started, and reports how far it got. */
export async function probeConfinement(
  layers: Layers,
  targets: Omit<ProbeTargets, "port" | "pid">,
): Promise<ConfinementReport> {
  // In a container the service's number is small, and a process of the sandbox may have the same: only a signal that
  // arrives counts.
  let isSignalled = false;
  const hear = () => {
    isSignalled = true;
  };
  process.on(probeSignal, hear);
  const listener = createServer((socket) => socket.destroy());
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  try {
    const { port } = listener.address() as AddressInfo;
    const report = await runProbe(layers, { ...targets, pid: process.pid, port });
    const isTrue = (deed: string) => deed !== signalling || isSignalled;
    return { ...report, reached: report.reached.filter(isTrue) };
  } finally {
    process.off(probeSignal, hear);
    listener.close();
  }
}

async function runProbe(layers: Layers, targets: ProbeTargets): Promise<ConfinementReport> {
  const { child, channel } = launchRenderer(scriptPath, [JSON.stringify(targets)], {
    layers,
    givesWay: false,
    cpuSec,
  });
  let report: ConfinementReport | undefined;
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  if (channel !== null) {
    channel.on("error", () => {});
    readFrames(channel, ({ header }) => {
      report = header as ConfinementReport;
    });
  }
  await once(child, "close");
  if (report === undefined) throw new Error(`The probe of renderers ended without a word: ${stderr}`);
  return report;
}
