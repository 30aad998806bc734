import { readFileSync } from "node:fs";

/** Linux reports 100 ticks per second to user space, whatever the kernel's configuration. */
const tickMs = 10;
const pauseMs = 50;

export interface JobLimits {
  /** CPU time; a worker that exceeds it is killed. */
  deadlineMs: number;
  /** Time to wait while others, not the service, use the CPU. Without it, workers do not yield. */
  patienceMs: number;
  /** Wall-clock time, whoever uses the CPU. */
  giveUpMs: number;
}

/**
 * `timeout`: the process has used up its CPU time, so the job is to blame.
 * `starved`: the machine was too busy to run it, or it waits for something that never comes.
 */
export type DeadlineReason = "timeout" | "starved";

/**
 * Measures a process's CPU time, not wall-clock time: an honest image must not be rejected because others keep the
 * machine busy. If CPU time cannot be read, the clock decides. A process whose pid is not known yet has only just
 * started, so all its time counts. Returns a function that cancels it.
 */
export function startDeadline(
  findPid: () => number | undefined,
  { deadlineMs, patienceMs, giveUpMs }: JobLimits,
  onPassed: (reason: DeadlineReason) => void,
): () => void {
  const startMs = performance.now();
  const startCpuMs = findCpuMs(findPid());
  const startUsage = process.cpuUsage();
  let timer = setTimeout(check, Math.min(deadlineMs, patienceMs));

  function check(): void {
    const passedMs = performance.now() - startMs;
    const cpuMs = findCpuMs(findPid());
    const workedMs = cpuMs === null ? passedMs : cpuMs - (startCpuMs ?? 0);
    const { user, system } = process.cpuUsage(startUsage);
    const waitedMs = passedMs - workedMs - (user + system) / 1000;
    const leftMs = Math.min(deadlineMs - workedMs, patienceMs - waitedMs, giveUpMs - passedMs);
    if (leftMs > 0) timer = setTimeout(check, Math.max(pauseMs, leftMs));
    else onPassed(workedMs >= deadlineMs ? "timeout" : "starved");
  }

  return () => clearTimeout(timer);
}

/** Null if the system does not report it, or the process is gone. */
function findCpuMs(pid: number | undefined): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name is in parentheses and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}
