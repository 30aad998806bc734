import { startWorkerProcess, type WorkerOutcome, type WorkerProcess } from "./worker-process.ts";

export interface WorkerLimits {
  maxRssBytes: number;
  maxJobs: number;
}

/** Starts workers when they are needed and replaces those that have grown or served long enough. */
export function createWorkerCrew({ maxRssBytes, maxJobs }: WorkerLimits) {
  const jobsDone = new Map<WorkerProcess, number>();
  let idle: WorkerProcess[] = [];

  function start(givesWay: boolean): WorkerProcess {
    const worker = startWorkerProcess({ givesWay });
    jobsDone.set(worker, 0);
    return worker;
  }

  async function dismiss(worker: WorkerProcess): Promise<void> {
    await worker.stop();
    jobsDone.delete(worker);
  }

  return {
    take(givesWay: boolean): WorkerProcess {
      const isWanted = (worker: WorkerProcess) => worker.isAlive && worker.givesWay === givesWay;
      for (const worker of idle.filter((candidate) => !isWanted(candidate))) void dismiss(worker);
      idle = idle.filter(isWanted);
      return idle.pop() ?? start(givesWay);
    },

    putBack(worker: WorkerProcess, outcome: WorkerOutcome): void {
      const jobs = (jobsDone.get(worker) ?? 0) + 1;
      jobsDone.set(worker, jobs);
      const isFit = "rssBytes" in outcome && outcome.rssBytes <= maxRssBytes && jobs < maxJobs;
      if (isFit && worker.isAlive) idle.push(worker);
      else void dismiss(worker);
    },

    pids: (): number[] =>
      [...jobsDone.keys()].flatMap(({ isAlive, pid }) => (isAlive && pid !== undefined ? [pid] : [])),

    async stopAll(): Promise<void> {
      await Promise.all([...jobsDone.keys()].map(dismiss));
    },
  };
}
