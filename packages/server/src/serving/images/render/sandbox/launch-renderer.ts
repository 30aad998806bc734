import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { workerChannelFd } from "../frame-channel.ts";
import { bubblewrapArgs, listCodePaths } from "./bubblewrap.ts";
import { findProgram, type Layers } from "./layers.ts";
import { findSyscallFilter } from "./syscall-filter.ts";

export interface LaunchOptions {
  layers: Layers;
  /** Run only while a CPU is idle, if the system supports that. */
  givesWay: boolean;
  /** For the whole life of the process. */
  cpuSec: number;
}

export interface Launched {
  /** The renderer, or the process that confines it and ends with it. */
  child: ChildProcess;
  /** Null if the machine is out of processes or descriptors. */
  channel: Socket | null;
  /** The renderer's own pid from the service's point of view. Undefined until known. */
  findPid(): number | undefined;
  kill(): void;
}

/** Linux's "nobody". The group with that number owns nothing either. */
export const strangerId = 65534;

const infoFd = 4;
const filterFd = 5;
/**
 * In kilobytes, as shells count. Limits writable memory: 50 megapixels as AVIF at the largest size use half of it.
 * Address space would be the wrong measure, because V8 reserves far more than it ever touches.
 */
const maxDataKb = 3 * 1024 * 1024;
const maxOpenFiles = 64;

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

/** The only way to start a process that handles hostile images. */
export function launchRenderer(script: string, args: string[], options: LaunchOptions): Launched {
  const { layers } = options;
  const isWrapped = layers.has("namespaces");
  const filter = isWrapped && layers.has("syscalls") ? findSyscallFilter(process.arch) : null;
  const [program = "", ...rest] = [
    ...shellPrefix(options),
    ...confinement(layers, filter !== null),
    process.execPath,
    ...nodeFlags(layers),
    script,
    ...args,
  ];
  const child = spawn(program, rest, {
    cwd: "/",
    // Without the service's environment, so that code run by a hostile image finds no secrets.
    env: { UV_THREADPOOL_SIZE: "1", ...allocation },
    stdio: [
      ...(["ignore", "ignore", "pipe", "pipe"] as const),
      ...(isWrapped ? (["pipe"] as const) : []),
      ...(filter === null ? [] : (["pipe"] as const)),
    ],
    ...(layers.has("user") ? { uid: strangerId, gid: strangerId } : {}),
  });
  if (child.pid === undefined) return { child, channel: null, findPid: () => undefined, kill: () => {} };
  if (filter !== null) {
    const sink = (child.stdio as unknown[])[filterFd] as Writable;
    // If bwrap cannot read it, it fails and says why.
    sink.on("error", () => {}).end(filter);
  }
  const channel = child.stdio[workerChannelFd] as Socket;
  if (isWrapped) return { child, channel, ...followWrapped(child, child.stdio[infoFd] as Readable) };
  return { child, channel, findPid: () => child.pid, kill: () => void child.kill("SIGKILL") };
}

/** Optional settings that the system rejects (priority, OOM score) are skipped; limits are not. */
function shellPrefix({ layers, givesWay, cpuSec }: LaunchOptions): string[] {
  const shell = findProgram("sh");
  if (shell === null) return [];
  const chrt = givesWay ? findProgram("chrt") : null;
  const limits = [
    "ulimit -c 0",
    "ulimit -f 0",
    `ulimit -n ${maxOpenFiles}`,
    `ulimit -d ${maxDataKb}`,
    `ulimit -t ${cpuSec}`,
  ];
  const script = [
    // Terminals and service managers signal the whole group, but the service decides when renderers end.
    "trap '' INT TERM HUP",
    // When memory is low, renderers are killed before the service.
    "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
    ...(chrt === null ? [] : [`${chrt} --idle --pid 0 $$ >/dev/null 2>&1`]),
    ...(layers.has("limits") ? [`${limits.join(" && ")} || exit 1`] : []),
    'exec "$@"',
  ];
  return [shell, "-c", script.join("\n"), "renderer"];
}

function confinement(layers: Layers, isFiltered: boolean): string[] {
  if (layers.has("namespaces")) {
    const bwrap = findProgram("bwrap") ?? "bwrap";
    return [bwrap, ...bubblewrapArgs({ info: infoFd, filter: isFiltered ? filterFd : null })];
  }
  // bwrap does this by itself, and if it is set-uid it must gain privileges to work.
  if (layers.has("privileges")) return [findProgram("setpriv") ?? "setpriv", "--no-new-privs", "--"];
  return [];
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

/**
 * The renderer behind bwrap. Only the renderer is ever killed; bwrap reaps it and exits. Killing bwrap would leave an
 * orphan: a zombie in a container without an init or, before bwrap has reported the process it started, one that waits
 * for it forever.
 */
function followWrapped(bwrap: ChildProcess, info: Readable) {
  let told = "";
  let pid: number | undefined;
  let isUnwanted = false;

  function killIfKnown(): void {
    if (pid === undefined || !isChildOf(pid, bwrap.pid)) return;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just died.
    }
  }

  info.setEncoding("utf8").on("data", (text: string) => {
    told += text;
    const found = /"child-pid": *(\d+)[\s,}]/.exec(told);
    if (found === null || pid !== undefined) return;
    pid = Number(found[1]);
    if (isUnwanted) killIfKnown();
  });
  info.on("error", () => {});

  return {
    findPid: () => pid,
    kill() {
      isUnwanted = true;
      killIfKnown();
    },
  };
}

/** A pid alone may belong to another process by now. */
function isChildOf(pid: number, parentPid: number | undefined): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]) === parentPid;
  } catch {
    return false;
  }
}
