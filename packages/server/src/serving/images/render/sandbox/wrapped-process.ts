import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";

/**
 * The renderer behind a bwrap. Only the renderer is ever killed; bwrap buries it and ends. Killed itself, it would leave
 * an orphan: a zombie in a container without an init and, while it has not yet told which process it started, one that
 * waits for it for ever.
 */
export function followWrapped(bwrap: ChildProcess, info: Readable) {
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
