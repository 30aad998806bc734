import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { workerChannelFd } from "../frame-channel.ts";
import { listCodePaths } from "./bubblewrap.ts";
import { type Confined, launchConfined } from "./launch-confined.ts";
import type { Layers } from "./layers.ts";

export interface LaunchOptions {
  layers: Layers;
  /** Run only while a CPU is idle, if the system supports that. */
  givesWay: boolean;
  /** For the whole life of the process. */
  cpuSec: number;
}

export interface Launched extends Confined {
  /** Null if the machine is out of processes or descriptors. */
  channel: Socket | null;
}

/** 50 megapixels as AVIF at the largest size use half of it. */
const dataBytes = 3 * 1024 ** 3;

/**
 * Reuses freed memory for the next image, in large pages: by default glibc returns it to the kernel immediately, and an
 * image spends up to 5% of its CPU on getting it back. Other C libraries ignore this.
 */
const allocation = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(32 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024 * 1024),
  GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
};

export function launchRenderer(script: string, args: string[], options: LaunchOptions): Launched {
  const { layers, givesWay, cpuSec } = options;
  const command = [process.execPath, ...nodeFlags(layers), script, ...args];
  const launched = launchConfined(command, ["ignore", "ignore", "pipe", "pipe"], {
    layers,
    givesWay,
    limits: { cpuSec, dataBytes, fileBytes: 0 },
    visiblePaths: [process.execPath, ...listCodePaths()],
    env: { UV_THREADPOOL_SIZE: "1", ...allocation },
  });
  return { ...launched, channel: findChannel(launched.child) };
}

function findChannel({ pid, stdio }: ChildProcess): Socket | null {
  return pid === undefined ? null : (stdio[workerChannelFd] as Socket);
}

function nodeFlags(layers: Layers): string[] {
  const flags = [
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=SecurityWarning",
    "--max-old-space-size=64",
  ];
  if (!layers.has("permission")) return flags;
  const readable = listCodePaths().map((path) => `--allow-fs-read=${path}`);
  return [...flags, "--permission", "--allow-addons", ...readable];
}
