import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { readFrames, readWorkerMessage } from "./frame-channel.ts";
import { type DeadlineReason, type JobLimits, startDeadline } from "./job-deadline.ts";
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
