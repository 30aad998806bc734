import { readFileSync } from "node:fs";

/** Linux shows user space 100 ticks a second, whatever the kernel was built with. */
const tickMs = 10;
const pauseMs = 50;

export interface JobLimits {
  /** Of processor time; a worker that goes beyond it is killed. */
  deadlineMs: number;
  /** On the clock; a worker that hardly gets to run is given up then. */
  giveUpMs: number;
}

/**
 * `timeout`: the process has worked for as long as it may, so the job is to blame.
 * `starved`: the machine was too busy to let it work, or it waits for something that never comes.
 */
export type DeadlineReason = "timeout" | "starved";

/**
 * Counts the processor time of a process, not the time of day: an honest image must not be refused because others
 * keep the machine busy. Where that time cannot be read, the clock decides. Returns how to call it off.
 */
export function startDeadline(
  pid: number,
  { deadlineMs, giveUpMs }: JobLimits,
  onPassed: (reason: DeadlineReason) => void,
): () => void {
  const startMs = performance.now();
  const startCpuMs = findCpuMs(pid);
  let timer = setTimeout(check, deadlineMs);

  function check(): void {
    const passedMs = performance.now() - startMs;
    const cpuMs = findCpuMs(pid);
    const workedMs = cpuMs === null || startCpuMs === null ? passedMs : cpuMs - startCpuMs;
    if (workedMs >= deadlineMs) onPassed("timeout");
    else if (passedMs >= giveUpMs) onPassed("starved");
    else timer = setTimeout(check, Math.max(pauseMs, deadlineMs - workedMs));
  }

  return () => clearTimeout(timer);
}

/** Null where the system does not tell, or the process is gone. */
export function findCpuMs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name stands in brackets and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}
