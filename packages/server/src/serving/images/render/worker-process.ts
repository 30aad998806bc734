import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { readFrames, readWorkerMessage } from "./frame-channel.ts";
import type { RenderReply, WorkerOrder } from "./render-job.ts";
import { workerPath } from "./sandbox/find-layers.ts";
import { type LaunchOptions, launchRenderer } from "./sandbox/launch-renderer.ts";
import { createSendMemory, type OpenSource, type SendMemory, sendBytes, sendSource } from "./send-source.ts";

export interface WorkerJob {
  order: WorkerOrder;
  source: Uint8Array | OpenSource;
  /** From the moment the worker can start. */
  limits: JobLimits;
}

/**
 * How a job ended. `crashed`: something other than us killed the process, most likely the image itself.
 * `unread`: the source failed while it was being sent. `starved`: it hardly got to run. `failed`: the process exited by
 * itself or never started. These three are never the image's fault.
 */
export type WorkerOutcome =
  | { kind: "done"; reply: RenderReply; bytes: Buffer }
  | { kind: "unread" }
  | { kind: "timeout" }
  | { kind: "crashed" }
  | { kind: "stopped" }
  | { kind: "starved" }
  | { kind: "failed"; reason: string };

export interface WorkerProcess {
  /** It runs only while a CPU is idle, if the system supports that. */
  readonly givesWay: boolean;
  /** The renderer's own pid, whatever process is in between; undefined until known. */
  readonly pid: number | undefined;
  readonly isAlive: boolean;
  /** Its memory usage; null if the system does not report it. */
  findRssBytes(): number | null;
  /** One job at a time; never rejects. After any outcome but `done` the process is gone. */
  run(job: WorkerJob): Promise<WorkerOutcome>;
  /** Kills the process and waits until it is gone. */
  stop(): Promise<void>;
}

const startLimits = { deadlineMs: 30_000, giveUpMs: 60_000 };
const keptStderrChars = 2000;
/** What bwrap and shells add to the signal number in the exit code of a killed process. */
const signalExitBase = 128;

type KillReason = DeadlineReason | "stopped" | "unread";

export function startWorkerProcess(options: LaunchOptions): WorkerProcess {
  const launched = launchRenderer(workerPath, [], options);
  const { child, channel, findPid } = launched;
  const gone = Promise.withResolvers<void>();
  let ready = false;
  let alive = true;
  let stderr = "";
  let killedFor: KillReason | null = null;
  let job: { settle: (outcome: WorkerOutcome) => void; limits: JobLimits } | null = null;
  let sending = Promise.resolve();
  let memory: SendMemory | undefined;
  let callOffDeadline = () => {};

  function kill(reason: KillReason): void {
    killedFor ??= reason;
    launched.kill();
  }

  function restartDeadline(limits: JobLimits): void {
    callOffDeadline();
    callOffDeadline = startDeadline(findPid, limits, kill);
  }

  function settle(outcome: WorkerOutcome): void {
    callOffDeadline();
    job?.settle(outcome);
    job = null;
  }

  function end(outcome: WorkerOutcome): void {
    alive = false;
    settle(outcome);
    gone.resolve();
  }

  function listen(socket: Socket): void {
    readFrames(socket, ({ header, bytes }) => {
      const message = readWorkerMessage(header);
      if (message === null) throw new Error("A render worker said what none of ours says.");
      // A worker that responds before it has received everything is suspicious: the rest would mix with the next job.
      if (message.kind === "done")
        return void sending.then(
          () => settle({ ...message, bytes }),
          () => {},
        );
      ready = true;
      if (job !== null) restartDeadline(job.limits);
    });
    // Either the worker is already dying, or it sends garbage and must not be used again.
    socket.on("error", () => launched.kill());
  }

  function send(socket: Socket, order: WorkerOrder, source: WorkerJob["source"]): Promise<void> {
    if (source instanceof Uint8Array) return sendBytes(socket, order, source);
    memory ??= createSendMemory();
    return sendSource(socket, order, source, memory);
  }

  if (channel !== null) listen(channel);
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-keptStderrChars);
  });
  child.on("error", (error) => end({ kind: "failed", reason: error.message }));
  child.on("close", (code, signal) => {
    if (killedFor === "timeout" && !ready) end({ kind: "failed", reason: "it did not start in time" });
    else if (killedFor !== null) end({ kind: killedFor });
    else if (signal !== null || (code ?? 0) > signalExitBase) end({ kind: "crashed" });
    else end({ kind: "failed", reason: `exit code ${code}: ${stderr}` });
  });

  return {
    givesWay: options.givesWay,
    get pid() {
      return findPid();
    },
    get isAlive() {
      return alive && killedFor === null;
    },
    findRssBytes: () => findRssBytes(findPid()),
    run: ({ order, source, limits }) =>
      new Promise((resolve) => {
        if (channel === null) return resolve({ kind: "failed", reason: "the process could not be started" });
        job = { settle: resolve, limits };
        restartDeadline(ready ? limits : { ...limits, ...startLimits });
        sending = send(channel, order, source);
        // The worker is in the middle of an incomplete frame. If it died first, that outcome is already recorded.
        sending.catch(() => !channel.destroyed && kill("unread"));
      }),
    async stop() {
      kill("stopped");
      await gone.promise;
    },
  };
}

/** Read from outside, because it has no /proc and cannot be trusted. */
function findRssBytes(pid: number | undefined): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const found = /^VmRSS:\s*(\d+) kB$/m.exec(status);
    return found === null ? null : Number(found[1]) * 1024;
  } catch {
    return null;
  }
}

/** Linux reports 100 ticks per second to user space, whatever the kernel's configuration. */
const tickMs = 10;
const pauseMs = 50;

export interface JobLimits {
  /** CPU time; a worker that exceeds it is killed. */
  deadlineMs: number;
  /** Time to wait while others, not the service, use the CPU. Without it, workers do not yield. */
  patienceMs: number;
  /** Wall-clock time, whatever else uses the CPU. */
  giveUpMs: number;
}

/**
 * `timeout`: the process has used up its CPU time, so the job is to blame.
 * `starved`: the machine was too busy to run it, or it waits for something that never comes.
 */
type DeadlineReason = "timeout" | "starved";

/**
 * Measures a process's CPU time, not wall-clock time: an honest image must not be rejected because others keep the
 * machine busy. If CPU time cannot be read, the clock decides. A process whose pid is not known yet has only just
 * started, so all its time counts. Returns a function that cancels it.
 */
function startDeadline(
  findPid: () => number | undefined,
  { deadlineMs, patienceMs, giveUpMs }: JobLimits,
  onPassed: (reason: DeadlineReason) => void,
): () => void {
  const startMs = performance.now();
  const startCpuMs = findCpuMs(findPid());
  const startUsage = process.cpuUsage();
  let timer = setTimeout(check, Math.min(deadlineMs, patienceMs));

  function check(): void {
    const passedMs = performance.now() - startMs;
    const cpuMs = findCpuMs(findPid());
    const workedMs = cpuMs === null ? passedMs : cpuMs - (startCpuMs ?? 0);
    const { user, system } = process.cpuUsage(startUsage);
    const waitedMs = passedMs - workedMs - (user + system) / 1000;
    const leftMs = Math.min(deadlineMs - workedMs, patienceMs - waitedMs, giveUpMs - passedMs);
    if (leftMs > 0) timer = setTimeout(check, Math.max(pauseMs, leftMs));
    else onPassed(workedMs >= deadlineMs ? "timeout" : "starved");
  }

  return () => clearTimeout(timer);
}

/** Null if the system does not report it, or the process is gone. */
function findCpuMs(pid: number | undefined): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The program's name is in parentheses and may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}
