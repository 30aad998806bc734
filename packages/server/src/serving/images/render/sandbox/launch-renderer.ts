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
  /** Run only while a processor has nothing else to do, where the system knows such a thing. */
  givesWay: boolean;
  /** Of the whole life of the process. */
  cpuSec: number;
}

export interface Launched {
  /** The renderer, or what confines it and ends with it. */
  child: ChildProcess;
  /** Null when the machine is out of processes or descriptors. */
  channel: Socket | null;
  /** The renderer itself as the service sees it. Undefined until it is known. */
  findPid(): number | undefined;
  kill(): void;
}

/** What Linux calls nobody. The group of that number owns nothing either. */
export const strangerId = 65534;

const infoFd = 4;
const filterFd = 5;
/**
 * In kilobytes, as shells count. Of writable memory: 50 megapixels as AVIF at the largest size take half of it. Address
 * space would be the wrong measure, of which V8 reserves far more than it ever touches.
 */
const maxDataKb = 3 * 1024 * 1024;
const maxOpenFiles = 64;

/**
 * Freed memory of one image serves the next, in large pages: by default glibc gives it back to the kernel at once, and
 * an image spends up to a twentieth of its CPU on getting it again. Other C libraries take no notice.
 */
const allocation = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(32 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024 * 1024),
  GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
};

/** The one way in which a process that meets hostile images is started. */
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
    // Nothing of the service's environment: code run by a hostile image would find no secret in it.
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
    // Where bwrap does not read it, it fails, and says why.
    sink.on("error", () => {}).end(filter);
  }
  const channel = child.stdio[workerChannelFd] as Socket;
  if (isWrapped) return { child, channel, ...followWrapped(child, child.stdio[infoFd] as Readable) };
  return { child, channel, findPid: () => child.pid, kill: () => void child.kill("SIGKILL") };
}

/** A courtesy that the system refuses (weight, what to kill first) is left out; a limit it refuses is not. */
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
    // A terminal or service manager signals the whole group; the service decides when renderers end.
    "trap '' INT TERM HUP",
    // When memory runs short, rendering gives way and the service lives on.
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
  // bwrap does this by itself, and where it is set-uid it must gain rights to be of use.
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
 * The renderer behind a bwrap. Only the renderer is ever killed; bwrap buries it and ends. Killed itself, it would leave
 * an orphan: a zombie in a container without an init and, while it has not yet told which process it started, one that
 * waits for it for ever.
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
      // It has died in this moment.
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

/** A number alone may be another's by now. */
function isChildOf(pid: number, parentPid: number | undefined): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]) === parentPid;
  } catch {
    return false;
  }
}
