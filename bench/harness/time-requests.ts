import { readCpuSec } from "./process-usage.ts";
import { spreadOf } from "./statistics.ts";

const cpuOf = (pids: number[]) => pids.reduce((sum, pid) => sum + readCpuSec(pid), 0);

/** Sends one request after another and measures how long each takes, and what it costs the processes that serve it. */
export async function timeRequests(
  pids: number[],
  { warmUps, repeats }: { warmUps: number; repeats: number },
  send: () => Promise<void>,
) {
  for (let i = 0; i < warmUps; i++) await send();
  const cpuBefore = cpuOf(pids);
  const times: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const startedMs = performance.now();
    await send();
    times.push(performance.now() - startedMs);
  }
  return { times: spreadOf(times), cpuMs: ((cpuOf(pids) - cpuBefore) * 1000) / repeats };
}
