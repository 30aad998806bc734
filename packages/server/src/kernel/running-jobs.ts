import type { Work } from "./stall-line.ts";

export type RunJob = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export interface RunningJobs {
  run: RunJob;
  list(): Work[];
  forgetFinished(): void;
}

interface Job {
  name: string;
  startedMs: number;
  endedMs: number | null;
}

/** Background jobs that are running, or ended since the last call of `forgetFinished`. */
export function createRunningJobs(now: () => number): RunningJobs {
  let jobs: Job[] = [];
  return {
    async run(name, work) {
      const job: Job = { name: `job "${name}"`, startedMs: now(), endedMs: null };
      jobs.push(job);
      try {
        return await work();
      } finally {
        job.endedMs = now();
      }
    },
    list: () => jobs.map(({ name, startedMs, endedMs }) => ({ name, ms: (endedMs ?? now()) - startedMs })),
    forgetFinished() {
      if (jobs.length > 0) jobs = jobs.filter(({ endedMs }) => endedMs === null);
    },
  };
}
