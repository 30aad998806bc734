import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { readFrames, writeFrame } from "./frame-channel.ts";
import { type DeadlineReason, type JobLimits, startDeadline } from "./job-deadline.ts";
import type { RenderOrder, RenderReply } from "./render-job.ts";
import { type WorkerMessage, workerChannelFd } from "./worker-channel.ts";

export interface WorkerJob {
  order: RenderOrder;
  bytes: Uint8Array;
  /** From the moment the worker can begin. */
  limits: JobLimits;
}

/**
 * How a job ended. `crashed`: something other than us killed the process, most likely the image itself.
 * `failed`: the process ended by itself, never started or hardly got to run, which no image explains.
 */
export type WorkerOutcome =
  | { kind: "done"; reply: RenderReply; bytes: Buffer; rssBytes: number }
  | { kind: "timeout" }
  | { kind: "crashed" }
  | { kind: "stopped" }
  | { kind: "failed"; reason: string };

export interface WorkerProcess {
  readonly pid: number | undefined;
  readonly isAlive: boolean;
  /** One job at a time; never rejects. After any outcome but `done` the process is gone. */
  run(job: WorkerJob): Promise<WorkerOutcome>;
  /** Kills the process and waits until it is gone. */
  stop(): Promise<void>;
}

const workerPath = fileURLToPath(new URL("./render-worker.ts", import.meta.url));
const startLimits: JobLimits = { deadlineMs: 30_000, giveUpMs: 60_000 };
const keptStderrChars = 2000;

export function startWorkerProcess(): WorkerProcess {
  const child = spawnWorker();
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
    if (killedFor === "starved") end({ kind: "failed", reason: "the machine was too busy to let it work" });
    else if (killedFor === "timeout" && !ready) end({ kind: "failed", reason: "it did not start in time" });
    else if (killedFor !== null) end({ kind: killedFor });
    else if (signal !== null) end({ kind: "crashed" });
    else end({ kind: "failed", reason: `exit code ${code}: ${stderr}` });
  });

  return {
    pid: child.pid,
    get isAlive() {
      return alive && killedFor === null;
    },
    run: ({ order, bytes, limits }) =>
      new Promise((resolve) => {
        if (channel === null) return resolve({ kind: "failed", reason: "the process could not be started" });
        job = { settle: resolve, limits };
        restartDeadline(ready ? limits : startLimits);
        writeFrame(channel, order, bytes);
      }),
    async stop() {
      kill("stopped");
      await gone.promise;
    },
  };
}

function spawnWorker(): ChildProcess {
  const flags = ["--disable-warning=ExperimentalWarning", "--max-old-space-size=64"];
  return spawn(process.execPath, [...flags, workerPath], {
    // Nothing of the service's environment: code run by a hostile image would find no secret in it.
    env: { UV_THREADPOOL_SIZE: "1", MALLOC_ARENA_MAX: "2" },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
}
