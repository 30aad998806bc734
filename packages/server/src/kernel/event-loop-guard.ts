import type { FastifyBaseLogger } from "fastify";
import { Histogram, type Registry } from "prom-client";

const beatEveryMs = 25;
const worthLoggingMs = 250;
const quietMs = 10_000;
const bucketsSec = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Runs work on the event loop and remembers it for one beat after it ends. */
export interface WorkSource {
  /** Everything that was running at any time since `forgetFinished` was last called. */
  list(): Work[];
  forgetFinished(): void;
}

export interface EventLoopGuard {
  watch(source: WorkSource): void;
  runJob: RunJob;
  start(): void;
  /** One check of the clock. `start` calls it repeatedly. */
  beat(): void;
  close(): void;
}

interface Clocks {
  now?: () => number;
  /** CPU time of the thread that runs the event loop. */
  cpuMs?: () => number;
}

/**
 * One long callback blocks everyone, and a profiler is never attached when it happens. A timer that fires late shows
 * how long the loop was blocked, and the work running meanwhile shows where to look. This is cheaper than an
 * inspector in another thread, which also can't interrupt SQLite, where most long stalls have been.
 */
export function createEventLoopGuard(
  log: FastifyBaseLogger,
  metrics: Registry,
  { now = () => performance.now(), cpuMs = readThreadCpuMs }: Clocks = {},
): EventLoopGuard {
  const delays = new Histogram({
    name: "upstow_nodejs_eventloop_delay_seconds",
    help: `How late a timer of ${beatEveryMs} ms fired: the time for which the event loop was blocked.`,
    buckets: bucketsSec,
    registers: [metrics],
  });
  const jobs = createRunningJobs(now);
  const sources: WorkSource[] = [jobs];
  const writeLine = createQuietLog(log);
  let last = { atMs: now(), cpuMs: cpuMs() };
  let timer: NodeJS.Timeout | undefined;

  function beat(): void {
    const current = { atMs: now(), cpuMs: cpuMs() };
    const stalledMs = Math.max(0, current.atMs - last.atMs - beatEveryMs);
    delays.observe(stalledMs / 1000);
    if (stalledMs >= worthLoggingMs) {
      const running = sources.flatMap((source) => source.list());
      writeLine(current.atMs, { stalledMs, cpuMs: current.cpuMs - last.cpuMs, running });
    }
    for (const source of sources) source.forgetFinished();
    last = current;
  }

  return {
    watch: (source) => void sources.push(source),
    runJob: jobs.run,
    start() {
      last = { atMs: now(), cpuMs: cpuMs() };
      timer = setInterval(beat, beatEveryMs).unref();
    },
    beat,
    close: () => clearInterval(timer),
  };
}

function readThreadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** At most one line per cause in ten seconds, so that a machine short of CPU doesn't hide a slow route. */
function createQuietLog(log: FastifyBaseLogger) {
  const causes = new Map<string, { quietUntilMs: number; suppressed: number }>();
  return (nowMs: number, stall: Stall): void => {
    const { cause, message, fields } = describeStall(stall);
    const { quietUntilMs = 0, suppressed = 0 } = causes.get(cause) ?? {};
    if (nowMs < quietUntilMs) {
      causes.set(cause, { quietUntilMs, suppressed: suppressed + 1 });
      return;
    }
    causes.set(cause, { quietUntilMs: nowMs + quietMs, suppressed: 0 });
    log.warn({ ...fields, suppressed }, message);
  };
}

const mostNamed = 5;

/** A request or a job, with the time it has been running, or ran. */
export interface Work {
  name: string;
  requestId?: string;
  ms: number;
}

interface Stall {
  stalledMs: number;
  /** CPU time of the event loop's thread meanwhile. */
  cpuMs: number;
  /** All that was running at any time since the loop was last seen turning. */
  running: Work[];
}

interface StallLine {
  cause: "busy" | "waiting";
  message: string;
  fields: { stalledMs: number; cpuMs: number; running: Work[] };
}

/** The message for a stall. */
export function describeStall({ stalledMs, cpuMs, running }: Stall): StallLine {
  // What blocked the loop has been running for as long as it was blocked. The one that started last comes first: what
  // started long before, such as a download, has mostly been waiting.
  const suspects = running.filter(({ ms }) => ms >= stalledMs).sort((a, b) => a.ms - b.ms);
  const named = suspects.slice(0, mostNamed);
  const isBusy = cpuMs >= stalledMs / 2;
  const round = Math.round;
  const cause = isBusy
    ? "busy"
    : `only ${round(cpuMs)} ms of them on the CPU, so the process was not scheduled or waited for the disk`;
  return {
    cause: isBusy ? "busy" : "waiting",
    message: `event loop stalled for ${round(stalledMs)} ms (${cause}) ${nameWork(named, running.length - named.length)}`,
    fields: {
      stalledMs: round(stalledMs),
      cpuMs: round(cpuMs),
      running: named.map((work) => ({ ...work, ms: round(work.ms) })),
    },
  };
}

function nameWork(named: Work[], others: number): string {
  const names = named.map(({ name }) => name);
  if (others > 0)
    names.push(
      `${others} ${named.length > 0 ? "more" : "short"} ${others === 1 ? "request or job" : "requests and jobs"}`,
    );
  return names.length === 0 ? "with no request or job running" : `while handling ${names.join(", ")}`;
}

export type RunJob = <T>(name: string, work: () => Promise<T>) => Promise<T>;

interface RunningJobs {
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
function createRunningJobs(now: () => number): RunningJobs {
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
