import { type ChildProcess, type IOType, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { bubblewrapArgs } from "./bubblewrap.ts";
import { findProgram, type Layers } from "./layers.ts";
import { findSyscallFilter } from "./syscall-filter.ts";

export interface Confinement {
  layers: Layers;
  /** Run only while a CPU is idle, if the system supports that. */
  givesWay: boolean;
  limits: ProcessLimits;
  /** All that exists in its file tree besides the system's libraries. */
  visiblePaths: string[];
  /** An empty folder in memory that it works in; without one, it can write nowhere. */
  workspaceBytes?: number;
  /** Its working directory without namespaces. */
  folder?: string;
  mayStartPrograms?: boolean;
  env: Record<string, string>;
}

/** For each process. */
export interface ProcessLimits {
  cpuSec: number;
  /** Writable memory. Address space would be the wrong measure, because V8 reserves far more than it ever touches. */
  dataBytes: number;
  /** The size of a file that it writes. */
  fileBytes: number;
}

export interface Confined {
  /** The process, or the one that confines it and ends with it. */
  child: ChildProcess;
  /** The process's own pid from the service's point of view. Undefined until known. */
  findPid(): number | undefined;
  kill(): void;
}

/** Linux's "nobody". The group with that number owns nothing either. */
export const strangerId = 65534;

const infoFd = 4;
const filterFd = 5;
const maxOpenFiles = 64;

/** The only way to start a process that handles hostile files. */
export function launchConfined(
  command: readonly string[],
  stdio: readonly [IOType, IOType, IOType, IOType],
  confinement: Confinement,
): Confined {
  const { layers, env, mayStartPrograms = false } = confinement;
  const isWrapped = layers.has("namespaces");
  const isFiltered = isWrapped && layers.has("syscalls");
  const filter = isFiltered ? findSyscallFilter(process.arch, { mayStartPrograms }) : null;
  const [program = "", ...rest] = [
    ...shellPrefix(confinement),
    ...listLayers(confinement, filter !== null),
    ...command,
  ];
  const child = spawn(program, rest, {
    cwd: isWrapped ? "/" : (confinement.folder ?? "/"),
    // Without the service's environment, so that code run by a hostile file finds no secrets.
    env,
    stdio: [
      ...stdio,
      ...(isWrapped ? (["pipe"] as const) : []),
      ...(filter === null ? [] : (["pipe"] as const)),
    ],
    // Its child processes must end with it. Namespaces do that automatically.
    detached: mayStartPrograms && !isWrapped,
    ...(layers.has("user") ? { uid: strangerId, gid: strangerId } : {}),
  });
  const { pid } = child;
  if (pid === undefined) return { child, findPid: () => undefined, kill: () => {} };
  if (filter !== null) {
    const sink = (child.stdio as unknown[])[filterFd] as Writable;
    // If bwrap cannot read it, it fails and says why.
    sink.on("error", () => {}).end(filter);
  }
  if (isWrapped) return { child, ...followWrapped(child, child.stdio[infoFd] as Readable) };
  const kill = () => (mayStartPrograms ? killGroup(child, pid) : void child.kill("SIGKILL"));
  return { child, findPid: () => pid, kill };
}

/** Optional settings that the system rejects (priority, OOM score) are skipped; limits are not. */
function shellPrefix({ layers, givesWay, limits }: Confinement): string[] {
  const shell = findProgram("sh");
  if (shell === null) return [];
  const chrt = givesWay ? findProgram("chrt") : null;
  const { cpuSec, dataBytes, fileBytes } = limits;
  const commands = [
    "ulimit -c 0",
    // Shells count files in blocks of 512 bytes, memory in kilobytes.
    `ulimit -f ${fileBytes / 512}`,
    `ulimit -n ${maxOpenFiles}`,
    `ulimit -d ${dataBytes / 1024}`,
    `ulimit -t ${cpuSec}`,
  ];
  const script = [
    // Terminals and service managers signal the whole group, but the service decides when renderers end.
    "trap '' INT TERM HUP",
    // When memory is low, renderers are killed before the service.
    "{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null",
    ...(chrt === null ? [] : [`${chrt} --idle --pid 0 $$ >/dev/null 2>&1`]),
    ...(layers.has("limits") ? [`${commands.join(" && ")} || exit 1`] : []),
    'exec "$@"',
  ];
  return [shell, "-c", script.join("\n"), "renderer"];
}

function listLayers(
  { layers, visiblePaths, workspaceBytes = 0 }: Confinement,
  isFiltered: boolean,
): string[] {
  if (layers.has("namespaces")) {
    const bwrap = findProgram("bwrap") ?? "bwrap";
    const filter = isFiltered ? filterFd : null;
    return [bwrap, ...bubblewrapArgs({ info: infoFd, filter, visiblePaths, workspaceBytes })];
  }
  // bwrap does this by itself, and if it is set-uid it must gain privileges to work.
  if (layers.has("privileges")) return [findProgram("setpriv") ?? "setpriv", "--no-new-privs", "--"];
  return [];
}

function killGroup(child: ChildProcess, pid: number): void {
  // Once it has been reaped, the number may belong to others.
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has just died.
  }
}

/**
 * The process behind bwrap. Only it is ever killed; bwrap reaps it and exits. Killing bwrap would leave an
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
