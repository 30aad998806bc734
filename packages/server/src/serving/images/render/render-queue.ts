export interface QueuedJob {
  account: string;
  /** Only previews are waiting for it. May change while the job waits. */
  isPreview(): boolean;
}

export interface QueueLimits {
  /**
   * Concurrent jobs. One more may run for a reader of an account without any, so that they need not wait for another
   * account's slow image or a preview.
   */
  size: number;
  waitingPerAccount: number;
  /** For all accounts. Beyond it, accounts with nothing waiting may still add one job each. */
  waitingInAll: number;
  previewsPerAccount: { running: number; waiting: number };
}

interface Lane<J> {
  waiting: J[];
  running: Set<J>;
  runningPreviews: Set<J>;
}

const createLane = () => ({ waiting: [], running: new Set<never>(), runningPreviews: new Set<never>() });

/**
 * Decides what renders next. Accounts take turns, however much each has waiting; within one, readers come before
 * previews, otherwise first come, first served.
 */
export function createRenderQueue<J extends QueuedJob>(limits: QueueLimits) {
  /** In order of their turns; only accounts with jobs. */
  const lanes = new Map<string, Lane<J>>();
  let running = 0;
  let waiting = 0;

  function hasRoom(job: J, lane: Lane<J>): boolean {
    if (lane.waiting.length === 0 && mayStart(job, lane)) return true;
    const { waitingPerAccount, waitingInAll, previewsPerAccount } = limits;
    if (waiting >= waitingInAll && lane.waiting.length > 0) return false;
    const previews = lane.waiting.filter((other) => other.isPreview()).length;
    if (job.isPreview()) return previews < previewsPerAccount.waiting;
    return lane.waiting.length - previews < waitingPerAccount;
  }

  function mayStart(job: J, lane: Lane<J>): boolean {
    const isPreview = job.isPreview();
    if (isPreview && lane.runningPreviews.size >= limits.previewsPerAccount.running) return false;
    if (running < limits.size) return true;
    const hasReader = lane.running.size > lane.runningPreviews.size;
    return running === limits.size && !isPreview && !hasReader;
  }

  function findStartable(lane: Lane<J>): J | undefined {
    const first = lane.waiting.find((job) => !job.isPreview()) ?? lane.waiting[0];
    return first !== undefined && mayStart(first, lane) ? first : undefined;
  }

  function removeIfEmpty(account: string, lane: Lane<J>): void {
    if (lane.waiting.length === 0 && lane.running.size === 0) lanes.delete(account);
  }

  return {
    /** The number of the account's waiting jobs if there is no room for another; otherwise null. */
    add(job: J): number | null {
      const lane = lanes.get(job.account) ?? createLane();
      if (!hasRoom(job, lane)) return lane.waiting.length;
      lane.waiting.push(job);
      waiting++;
      lanes.set(job.account, lane);
      return null;
    },

    /** False if it is no longer waiting. */
    remove(job: J): boolean {
      const lane = lanes.get(job.account);
      const index = lane?.waiting.indexOf(job) ?? -1;
      if (lane === undefined || index === -1) return false;
      lane.waiting.splice(index, 1);
      waiting--;
      removeIfEmpty(job.account, lane);
      return true;
    },

    /** The job counts as running from now until `finish`. Null if none may start. */
    start(): J | null {
      for (const [account, lane] of lanes) {
        const job = findStartable(lane);
        if (job === undefined) continue;
        lane.waiting.splice(lane.waiting.indexOf(job), 1);
        waiting--;
        running++;
        lane.running.add(job);
        if (job.isPreview()) lane.runningPreviews.add(job);
        // The next turn belongs to another account.
        lanes.delete(account);
        lanes.set(account, lane);
        return job;
      }
      return null;
    },

    finish(job: J): void {
      const lane = lanes.get(job.account);
      if (lane === undefined) return;
      running--;
      lane.running.delete(job);
      lane.runningPreviews.delete(job);
      removeIfEmpty(job.account, lane);
    },

    takeAll(): J[] {
      const all = [...lanes.values()].flatMap((lane) => lane.waiting.splice(0));
      waiting = 0;
      return all;
    },

    counts: () => ({ running, waiting }),
  };
}
