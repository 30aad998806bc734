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
/** Until then the heap, the caches and the pools are still growing into the size that the load gives them. */
const warmUpCalls = 30_000;
const longestWarmUpMs = 10 * 60_000;
/** What each client waits between two things it does: two hours of a machine that has time left. */
const pauseMs = 200;
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
    const startClients = (pauseMs: number) => {
      let isOver = false;
      const working = Promise.all(Array.from({ length: clients }, () => load.run(() => isOver, pauseMs)));
      return async () => {
        isOver = true;
        await working;
      };
    };
    // What is opened once, at first use, is no growth.
    await load.fillCaches();
    const warmUntilMs = Date.now() + longestWarmUpMs;
    const stopWarmUp = startClients(0);
    while (load.counts()["calls of the API"] < warmUpCalls && Date.now() < warmUntilMs) await wait(100);
    await stopWarmUp();
    const before = await measureQuiet(installation, server.pid);
    const stopClients = startClients(pauseMs);
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
    if (memory.growth > mostGrowth)
      violations.push(`memory grew from ${memory.usualEarly} to ${memory.usualLate} MiB`);
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
        "median memory in the second quarter (MiB)": memory.usualEarly,
        "median memory in the last quarter (MiB)": memory.usualLate,
        "least memory in the second quarter (MiB)": memory.leastEarly,
        "least memory in the last quarter (MiB)": memory.leastLate,
        "most memory (MiB)": memory.most,
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

/**
 * The usual is the median of a quarter's 360 samples in two hours. The least, a single moment in which the collector
 * happened to have been everywhere, is told and not judged.
 */
function compareMemory(samplesKib: number[]) {
  const quarter = Math.max(1, Math.floor(samplesKib.length / 4));
  const ascending = (samples: number[]) => samples.toSorted((a, b) => a - b);
  const early = ascending(samplesKib.slice(quarter, 2 * quarter));
  const late = ascending(samplesKib.slice(-quarter));
  const mib = (samples: number[], at: number) => Math.round((samples.at(at) ?? 0) / 1024);
  const middle = Math.floor(quarter / 2);
  return {
    usualEarly: mib(early, middle),
    usualLate: mib(late, middle),
    leastEarly: mib(early, 0),
    leastLate: mib(late, 0),
    most: mib(ascending(samplesKib), -1),
    growth: (late[middle] ?? 0) / (early[middle] ?? 0),
  };
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
