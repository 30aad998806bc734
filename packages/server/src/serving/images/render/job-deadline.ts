import { readFileSync } from "node:fs";

/** Linux shows user space 100 ticks a second, whatever the kernel was built with. */
const tickMs = 10;
const pauseMs = 50;

export interface JobLimits {
  /** Of processor time; a worker that goes beyond it is killed. */
  deadlineMs: number;
  /** Of waiting while the service itself does not need the processor either: others keep it. Without any, none give way. */
  patienceMs: number;
  /** On the clock, whoever has the processor. */
  giveUpMs: number;
}

/**
 * `timeout`: the process has worked for as long as it may, so the job is to blame.
 * `starved`: the machine was too busy to let it work, or it waits for something that never comes.
 */
export type DeadlineReason = "timeout" | "starved";

/**
 * Counts the processor time of a process, not the time of day: an honest image must not be refused because others
 * keep the machine busy. Where that time cannot be read, the clock decides. A process whose number is not known yet has only
 * just begun, so that all its time counts. Returns how to call it off.
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

/** Null where the system does not tell, or the process is gone. */
function findCpuMs(pid: number | undefined): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name stands in brackets and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}
