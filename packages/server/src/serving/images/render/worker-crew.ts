import { findLayers } from "./sandbox/find-layers.ts";
import { type Layers, noLayers } from "./sandbox/layers.ts";
import { startWorkerProcess, type WorkerOutcome, type WorkerProcess } from "./worker-process.ts";

export interface WorkerLimits {
  maxRssBytes: number;
  maxJobs: number;
  /** CPU time over the whole life of a worker. */
  cpuSec: number;
}

/** Starts workers on demand and replaces those that have grown or served long enough. */
export function createWorkerCrew({ maxRssBytes, maxJobs, cpuSec }: WorkerLimits) {
  const jobsDone = new Map<WorkerProcess, number>();
  let idle: WorkerProcess[] = [];
  let isClosed = false;
  let layers: Layers = noLayers;

  async function start(givesWay: boolean): Promise<WorkerProcess> {
    ({ layers } = await findLayers());
    if (isClosed) throw new Error("The crew was dismissed meanwhile.");
    return launch(givesWay);
  }

  function launch(givesWay: boolean): WorkerProcess {
    const worker = startWorkerProcess({ layers, givesWay, cpuSec: Math.ceil(cpuSec) });
    jobsDone.set(worker, 0);
    return worker;
  }

  /** Immediately, so that the next job does not wait for a worker to start. */
  function replace(worker: WorkerProcess): void {
    void dismiss(worker);
    if (!isClosed) idle.push(launch(worker.givesWay));
  }

  async function dismiss(worker: WorkerProcess): Promise<void> {
    await worker.stop();
    jobsDone.delete(worker);
  }

  return {
    async take(givesWay: boolean): Promise<WorkerProcess> {
      const isWanted = (worker: WorkerProcess) => worker.isAlive && worker.givesWay === givesWay;
      for (const worker of idle.filter((candidate) => !isWanted(candidate))) void dismiss(worker);
      idle = idle.filter(isWanted);
      return idle.pop() ?? start(givesWay);
    },

    putBack(worker: WorkerProcess, outcome: WorkerOutcome): void {
      const jobs = (jobsDone.get(worker) ?? 0) + 1;
      jobsDone.set(worker, jobs);
      const isFit = outcome.kind === "done" && jobs < maxJobs && worker.isAlive;
      if (isFit && (worker.findRssBytes() ?? 0) <= maxRssBytes) idle.push(worker);
      else replace(worker);
    },

    pids: (): number[] =>
      [...jobsDone.keys()].flatMap(({ isAlive, pid }) => (isAlive && pid !== undefined ? [pid] : [])),

    async stopAll(): Promise<void> {
      isClosed = true;
      await Promise.all([...jobsDone.keys()].map(dismiss));
    },
  };
}
