import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { readFrames, writeFrame } from "./frame-channel.ts";
import { type DeadlineReason, type JobLimits, startDeadline } from "./job-deadline.ts";
import type { RenderReply, RenderTask, WrittenFile } from "./render-job.ts";
import { giveWayFlag, type WorkerMessage, workerChannelFd } from "./worker-channel.ts";

export interface WorkerJob {
  task: RenderTask;
  /** Of a source that is not in a file. */
  bytes: Uint8Array;
  /** From the moment the worker can begin. */
  limits: JobLimits;
}

/**
 * How a job ended. `crashed`: something other than us killed the process, most likely the image itself.
 * `starved`: it hardly got to run. `failed`: the process ended by itself or never started. No image explains these two.
 */
export type WorkerOutcome =
  | { kind: "done"; reply: RenderReply; bytes: Buffer; written: WrittenFile | null; rssBytes: number }
  | { kind: "unread"; rssBytes: number }
  | { kind: "timeout" }
  | { kind: "crashed" }
  | { kind: "stopped" }
  | { kind: "starved" }
  | { kind: "failed"; reason: string };

export interface WorkerProcess {
  /** It runs only while a processor has nothing else to do, where the system knows such a thing. */
  readonly givesWay: boolean;
  readonly pid: number | undefined;
  readonly isAlive: boolean;
  /** One job at a time; never rejects. After any outcome but `done` and `unread` the process is gone. */
  run(job: WorkerJob): Promise<WorkerOutcome>;
  /** Kills the process and waits until it is gone. */
  stop(): Promise<void>;
}

const workerPath = fileURLToPath(new URL("./render-worker.ts", import.meta.url));
const startLimits = { deadlineMs: 30_000, giveUpMs: 60_000 };
const keptStderrChars = 2000;

export function startWorkerProcess({ givesWay }: { givesWay: boolean }): WorkerProcess {
  const child = spawnWorker(givesWay);
  // When the machine is out of processes or descriptors there is neither a pid nor a stream.
  const channel = child.pid === undefined ? null : (child.stdio[workerChannelFd] as Socket);
  const gone = Promise.withResolvers<void>();
  let ready = false;
  let alive = true;
  let stderr = "";
  let killedFor: DeadlineReason | "stopped" | null = null;
  let job: { settle: (outcome: WorkerOutcome) => void; limits: JobLimits } | null = null;
  let callOffDeadline = () => {};

  function kill(reason: DeadlineReason | "stopped"): void {
    killedFor ??= reason;
    child.kill("SIGKILL");
  }

  function restartDeadline(limits: JobLimits): void {
    callOffDeadline();
    callOffDeadline = startDeadline(child.pid ?? 0, limits, kill);
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
      const message = header as WorkerMessage;
      if (message.kind === "done") return settle({ ...message, bytes });
      if (message.kind === "unread") return settle(message);
      ready = true;
      if (job !== null) restartDeadline(job.limits);
    });
    // Either the worker is dying already, or it talks nonsense and must not be spoken to again.
    socket.on("error", () => child.kill("SIGKILL"));
  }

  if (channel !== null) listen(channel);
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-keptStderrChars);
  });
  child.on("error", (error) => end({ kind: "failed", reason: error.message }));
  child.on("close", (code, signal) => {
    if (killedFor === "timeout" && !ready) end({ kind: "failed", reason: "it did not start in time" });
    else if (killedFor !== null) end({ kind: killedFor });
    else if (signal !== null) end({ kind: "crashed" });
    else end({ kind: "failed", reason: `exit code ${code}: ${stderr}` });
  });

  return {
    givesWay,
    pid: child.pid,
    get isAlive() {
      return alive && killedFor === null;
    },
    run: ({ task, bytes, limits }) =>
      new Promise((resolve) => {
        if (channel === null) return resolve({ kind: "failed", reason: "the process could not be started" });
        job = { settle: resolve, limits };
        restartDeadline(ready ? limits : { ...limits, ...startLimits });
        writeFrame(channel, task, bytes);
      }),
    async stop() {
      kill("stopped");
      await gone.promise;
    },
  };
}

/**
 * Freed memory of one image serves the next, in large pages: by default glibc gives it back to the kernel at once, and
 * an image spends up to a twentieth of its CPU on getting it again. Other C libraries take no notice.
 */
const allocation = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: String(32 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024 * 1024),
  GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
};

function spawnWorker(givesWay: boolean): ChildProcess {
  const flags = ["--disable-warning=ExperimentalWarning", "--max-old-space-size=64"];
  return spawn(process.execPath, [...flags, workerPath, ...(givesWay ? [giveWayFlag] : [])], {
    // Nothing of the service's environment: code run by a hostile image would find no secret in it.
    env: { UV_THREADPOOL_SIZE: "1", ...allocation },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
}
