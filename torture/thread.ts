// The other side of in-thread.ts.
import { parentPort, workerData } from "node:worker_threads";
import type { Report, Task } from "./in-thread.ts";
import { createRandom } from "./random.ts";
import type { Scenario } from "./scenario.ts";

const reportEveryMs = 200;

const { module, name, rounds, seed } = workerData as Task;
const scenario: Scenario = (await import(module))[name];
const tell = (report: Report) => parentPort?.postMessage(report);

let isTimeUp = false;
parentPort?.on("message", () => {
  isTimeUp = true;
});
let [unsaid, saidMs] = [0, Date.now()];
let latest: Record<string, number> = {};
const sayRounds = () => {
  tell({ rounds: unsaid, counts: latest });
  [unsaid, saidMs] = [0, Date.now()];
};
const outcome = await scenario({
  rounds,
  random: createRandom(seed),
  isTimeUp: () => isTimeUp,
  onRound(_round, counts) {
    unsaid++;
    latest = counts;
    if (Date.now() - saidMs > reportEveryMs) sayRounds();
  },
});
sayRounds();
tell({ outcome });
// Servers that scenarios share would keep the thread; they end with it.
process.exit(0);
