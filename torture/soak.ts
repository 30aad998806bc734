import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createInstallation, type Installation } from "./installation.ts";
import { createMixedLoad } from "./mixed-load.ts";
import type { Outcome, RunOptions } from "./scenario.ts";

const clients = 6;
const sampleEveryMs = 5_000;
/** The server keeps idle connections for 72 seconds. */
const quietMs = 90_000;
const warmUpMs = 30_000;
const mostGrowth = 1.05;

/** Mixed load for as long as wanted: memory, descriptors and temporary files must not grow with it. */
export async function soak({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const installation = await createInstallation({
    UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    UPSTOW_WEBHOOK_RETRY_BASE_MS: "50",
  });
  const violations: string[] = [];
  try {
    const server = await installation.start();
    const load = await createMixedLoad(installation, random, violations);
    const startClients = () => {
      let isOver = false;
      const working = Promise.all(Array.from({ length: clients }, () => load.run(() => isOver)));
      return async () => {
        isOver = true;
        await working;
      };
    };
    // What is opened once, at first use, is no growth.
    await load.fillCaches();
    const stopWarmUp = startClients();
    await wait(warmUpMs);
    await stopWarmUp();
    const before = await measureQuiet(installation, server.pid);
    const stopClients = startClients();
    const samples: number[] = [];
    const counts = () => ({ ...load.counts(), "memory now (MiB)": Math.round((samples.at(-1) ?? 0) / 1024) });
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      await wait(sampleEveryMs);
      samples.push(await readMemoryKib(server.pid));
      onRound(round, counts());
    }
    await stopClients();
    const after = await measureQuiet(installation, server.pid);
    const memory = compareMemory(samples);
    if (memory.growth > mostGrowth) violations.push(`memory grew from ${memory.early} to ${memory.late} MiB`);
    const more = after.descriptors.filter((name) => !before.descriptors.includes(name));
    if (after.descriptors.length > before.descriptors.length)
      violations.push(
        `${before.descriptors.length} descriptors were open before; new are ${more.join(", ")}`,
      );
    if (after.temporary > before.temporary) violations.push(`${after.temporary} temporary files are left`);
    await server.stop();
    return {
      counts: {
        ...load.counts(),
        "least memory in the second quarter (MiB)": memory.early,
        "least memory in the last quarter (MiB)": memory.late,
        "descriptors before": before.descriptors.length,
        "descriptors after": after.descriptors.length,
        "temporary files after": after.temporary,
      },
      violations,
    };
  } finally {
    await installation.remove();
  }
}

/** The least of a quarter is what is really held; the rest is what the collector has not come to yet. */
function compareMemory(samplesKib: number[]) {
  const quarter = Math.max(1, Math.floor(samplesKib.length / 4));
  const early = Math.min(...samplesKib.slice(quarter, 2 * quarter));
  const late = Math.min(...samplesKib.slice(-quarter));
  return { early: Math.round(early / 1024), late: Math.round(late / 1024), growth: late / early };
}

async function readMemoryKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

/** When nobody calls: connections have gone and sweeps have been. */
async function measureQuiet({ dataDir }: Installation, pid: number) {
  await wait(quietMs);
  const numbers = await readdir(`/proc/${pid}/fd`);
  const named = await Promise.all(
    numbers.map((number) => readlink(`/proc/${pid}/fd/${number}`).catch(() => null)),
  );
  const descriptors = named.filter((name) => name !== null);
  const temporary = (await readdir(join(dataDir, "objects", "tmp")).catch(() => [])).length;
  return { descriptors, temporary };
}
