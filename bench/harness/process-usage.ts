import { readdirSync, readFileSync, writeFileSync } from "node:fs";

// The unit of /proc times; Linux shows user space 100 whatever the kernel was built with.
const ticksPerSec = 100;

interface ProcessTimes {
  parentPid: number;
  cpuSec: number;
  /** Of children that have ended and were waited for. */
  endedChildrenCpuSec: number;
}

function findTimes(pid: number): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name stands in brackets and may hold spaces; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = (index: number) => Number(fields[index]) / ticksPerSec;
    return {
      parentPid: Number(fields[1]),
      cpuSec: ticks(11) + ticks(12),
      endedChildrenCpuSec: ticks(13) + ticks(14),
    };
  } catch {
    return null;
  }
}

/** Children, and theirs: what confines a renderer stands between it and the service. */
export function listBelow(parentPid: number): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const children = pids.filter((pid) => findTimes(pid)?.parentPid === parentPid);
  return children.flatMap((child) => [child, ...listBelow(child)]);
}

/** CPU time of a program with all the processes below it, since it started. */
export function readCpuSec(pid: number): number {
  const own = findTimes(pid);
  if (own === null) throw new Error(`process ${pid} is gone`);
  const all = [own, ...listBelow(pid).map(findTimes)];
  return all.reduce((sum, times) => sum + (times?.cpuSec ?? 0) + (times?.endedChildrenCpuSec ?? 0), 0);
}

export function readRssBytes(pid: number): number {
  return readStatusBytes(pid, "VmRSS");
}

/** The most since the process started, or since `resetPeakRss`. */
export function readPeakRssBytes(pid: number): number {
  return readStatusBytes(pid, "VmHWM");
}

export function resetPeakRss(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function readStatusBytes(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
}
