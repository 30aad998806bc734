import type { Logger } from "pino";

/** Work in the background, a few jobs at a time. */
export interface Workers {
  /** Starts what is due, if there is room. */
  look(): Promise<void>;
  /** The same, without waiting. */
  nudge(): void;
  /** Stops what runs with the reason `stopping`, and waits for it. */
  close(): Promise<void>;
}

/** Why a job is aborted when the service stops: the attempt does not count. */
export const stopping = new Error("the service stops");

export interface WorkersOptions<Job> {
  atOnce: number;
  /** Nothing is started while this is true. */
  isResting: () => boolean;
  /** Null if nothing is due. */
  claimNext(isOver: () => boolean): Promise<Job | null>;
  /** Never rejects: what cannot be recorded is left to the job's lease. */
  work(job: Job, stop: AbortController): Promise<void>;
  log: Pick<Logger, "warn">;
  /** Names the jobs in the log. */
  jobs: string;
}

export function createWorkers<Job>(options: WorkersOptions<Job>): Workers & { running(): number } {
  const { atOnce, isResting, claimNext, work, log, jobs } = options;
  const running = new Map<Promise<void>, AbortController>();
  let isClosed = false;
  let looking: Promise<void> | null = null;

  async function startDue(): Promise<void> {
    const isOver = () => isClosed || isResting();
    while (!isOver() && running.size < atOnce) {
      const job = await claimNext(isOver);
      if (job === null) return;
      const stop = new AbortController();
      const done = work(job, stop).finally(() => {
        running.delete(done);
        nudge();
      });
      running.set(done, stop);
    }
  }

  function look(): Promise<void> {
    looking ??= startDue().finally(() => {
      looking = null;
    });
    return looking;
  }

  function nudge(): void {
    if (!isClosed) look().catch((error: unknown) => log.warn({ err: error }, `${jobs} were not started`));
  }

  return {
    look,
    nudge,
    async close() {
      isClosed = true;
      await looking?.catch(() => {});
      for (const stop of running.values()) stop.abort(stopping);
      await Promise.all(running.keys());
    },
    running: () => running.size,
  };
}

/** Projects without room that one claim passes over, so that it ends soon. The next one goes on from there. */
const mostPassed = 100;

/**
 * Finds and claims what is due, project by project, so that one with thousands of files does not hold up another. The
 * result is null if nothing is due for which there is room.
 */
export function createDueTurns<Due extends { project_id: string }, Claimed>(
  findAfter: (projectId: string) => Promise<Due | null>,
  /** Undefined if another worker was faster. */
  claim: (due: Due) => Promise<Claimed | undefined>,
  /** Its project is passed over if false. */
  hasRoom: (due: Due) => boolean = () => true,
): (isOver: () => boolean) => Promise<Claimed | null> {
  let lastProject = "";
  return async (isOver) => {
    const passed = new Set<string>();
    while (!isOver()) {
      const due = (await findAfter(lastProject)) ?? (lastProject === "" ? null : await findAfter(""));
      if (due === null) return null;
      lastProject = due.project_id;
      if (!hasRoom(due)) {
        if (passed.has(lastProject) || passed.size === mostPassed) return null;
        passed.add(lastProject);
        continue;
      }
      const claimed = await claim(due);
      if (claimed !== undefined) return claimed;
    }
    return null;
  };
}
