export interface QueuedJob {
  account: string;
  /** Nobody but whoever tries things out waits for it. May change while the job waits. */
  isPreview(): boolean;
}

export interface QueueLimits {
  /**
   * Jobs at once. One more may run for a reader of an account that renders for no reader yet, who need not wait until
   * another's slow image, or a preview, has ended.
   */
  size: number;
  waitingPerAccount: number;
  /** Of all accounts. Beyond it, accounts that have nothing waiting may still add one job each. */
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
 * Who renders next. Accounts take turns, whatever each has waiting; within one, readers come before previews and otherwise
 * the first comes first.
 */
export function createRenderQueue<J extends QueuedJob>(limits: QueueLimits) {
  /** In the order of their turns; only accounts that have jobs. */
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
    /** How many jobs of the account wait already, where there is no room for another; otherwise null. */
    add(job: J): number | null {
      const lane = lanes.get(job.account) ?? createLane();
      if (!hasRoom(job, lane)) return lane.waiting.length;
      lane.waiting.push(job);
      waiting++;
      lanes.set(job.account, lane);
      return null;
    },

    /** False where it is not waiting any more. */
    remove(job: J): boolean {
      const lane = lanes.get(job.account);
      const index = lane?.waiting.indexOf(job) ?? -1;
      if (lane === undefined || index === -1) return false;
      lane.waiting.splice(index, 1);
      waiting--;
      removeIfEmpty(job.account, lane);
      return true;
    },

    /** The job counts as running from now until `finish`. Null when none may start. */
    start(): J | null {
      for (const [account, lane] of lanes) {
        const job = findStartable(lane);
        if (job === undefined) continue;
        lane.waiting.splice(lane.waiting.indexOf(job), 1);
        waiting--;
        running++;
        lane.running.add(job);
        if (job.isPreview()) lane.runningPreviews.add(job);
        // The next turn is somebody else's.
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
