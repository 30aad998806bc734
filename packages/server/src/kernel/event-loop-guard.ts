import type { FastifyBaseLogger } from "fastify";
import { Histogram, type Registry } from "prom-client";
import { createRunningJobs, type RunJob } from "./running-jobs.ts";
import { describeStall, type Stall, type Work } from "./stall-line.ts";

const beatEveryMs = 25;
const worthLoggingMs = 250;
const quietMs = 10_000;
const bucketsSec = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Something that runs work on the event loop and remembers it for one beat longer than it lasts. */
export interface WorkSource {
  /** Everything that was running at any time since `forgetFinished` was last called. */
  list(): Work[];
  forgetFinished(): void;
}

export interface EventLoopGuard {
  watch(source: WorkSource): void;
  runJob: RunJob;
  start(): void;
  /** One look at the clock. `start` calls it over and over. */
  beat(): void;
  close(): void;
}

interface Clocks {
  now?: () => number;
  /** CPU time of the thread that runs the event loop. */
  cpuMs?: () => number;
}

/**
 * Everybody waits while one callback runs, and a profiler is never there when it happens. A timer that fires late shows
 * how long the loop was blocked, and the work that was running meanwhile shows where to look. This is cheaper than asking
 * an inspector from another thread, which also can't interrupt SQLite, where most long stalls have been.
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
