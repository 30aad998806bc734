import type { Recipe } from "../recipe.ts";
import { createReusedMemory, type GetMemory } from "./frame-channel.ts";
import type { JobLimits } from "./job-deadline.ts";
import { RenderQueueFull, RenderTimeout, RenderUnavailable } from "./render-errors.ts";
import {
  type DraftFile,
  maxSourceBytes,
  type RenderedImage,
  type RenderProblem,
  type RenderTask,
  type RequestedFormat,
  type SourceFile,
  type WrittenFile,
} from "./render-job.ts";
import { findSourceKind } from "./sniff-image.ts";
import { createWorkerCrew } from "./worker-crew.ts";
import type { WorkerOutcome, WorkerProcess } from "./worker-process.ts";

export interface RenderPoolOptions extends JobLimits {
  /** Processes at most; they start when first needed. */
  size: number;
  /** Jobs that may wait. A source is read when its turn has come, so that what waits holds no memory. */
  queueLimit: number;
  /** A worker that holds more after a job is replaced. */
  maxRssBytes: number;
  /** A worker is replaced after so many jobs. */
  maxJobs: number;
}

export interface RenderRequest {
  /** Where the source can be read by the worker itself, which saves two copies of it; null where it cannot. */
  findSourceFile?(): Promise<SourceFile | null>;
  /**
   * For all other sources, and for a file that was not there after all. What it throws, `render` throws. The memory is
   * the source's until the job has ended, then another's.
   */
  readSource(getMemory: GetMemory): Promise<Uint8Array>;
  /** Where the worker may put the image. The file is the caller's, whatever becomes of the job. */
  draft?: DraftFile;
  recipe: Omit<Recipe, "format">;
  format: RequestedFormat;
}

export type RenderResult =
  /** No bytes where they were `written`. */
  | ({ ok: true; bytes: Buffer; written: WrittenFile | null; contentType: string } & RenderedImage)
  | { ok: false; problem: RenderProblem };

export interface RenderPool {
  /** Throws `RenderQueueFull`, `RenderTimeout`, or `RenderUnavailable`. */
  render(request: RenderRequest): Promise<RenderResult>;
  status(): { running: number; queued: number; workerPids: number[] };
  /** Kills every worker; jobs under way throw `RenderUnavailable`. */
  close(): Promise<void>;
}

interface Job {
  request: RenderRequest;
  settled: PromiseWithResolvers<RenderResult>;
}

const maxAttempts = 2;
/** How long workers give way to nobody after one of them had to wait in vain. */
const pressingMs = 10 * 60_000;
const maxRetryAfterSec = 30;
/** For each job under way; larger sources get memory of their own. */
const keptSourceBytes = 4 * 1024 * 1024;
const closedMessage = "The render pool is closed.";

export function createRenderPool(options: RenderPoolOptions): RenderPool {
  const { size, queueLimit } = options;
  const crew = createWorkerCrew(options);
  const queue: Job[] = [];
  const memories: GetMemory[] = [];
  let running = 0;
  let averageMs = 200;
  let closed = false;
  let givesWayAtMs = 0;

  function startNext(): void {
    while (running < size) {
      const job = queue.shift();
      if (job === undefined) return;
      running++;
      void runJob(job).finally(() => {
        running--;
        startNext();
      });
    }
  }

  async function runJob({ request, settled }: Job): Promise<void> {
    const startedAt = performance.now();
    try {
      settled.resolve((await renderFile(request)) ?? (await renderBytes(request)));
    } catch (error) {
      settled.reject(error);
    }
    averageMs += (performance.now() - startedAt - averageMs) / 10;
  }

  /** Null where the source has to be read here. */
  async function renderFile(request: RenderRequest): Promise<RenderResult | null> {
    const source = (await request.findSourceFile?.()) ?? null;
    if (source === null) return null;
    if (source.sizeBytes > maxSourceBytes) return { ok: false, problem: "too-many-bytes" };
    const outcome = await attempt(toTask(request, source), new Uint8Array(), maxAttempts);
    return outcome.kind === "unread" ? null : toResult(outcome);
  }

  async function renderBytes(request: RenderRequest): Promise<RenderResult> {
    const getMemory = memories.pop() ?? createReusedMemory(keptSourceBytes);
    try {
      const bytes = await request.readSource(getMemory);
      const problem = findProblem(bytes);
      if (problem !== null) return { ok: false, problem };
      return toResult(await attempt(toTask(request, null), bytes, maxAttempts));
    } finally {
      memories.push(getMemory);
    }
  }

  function takeWorker(): WorkerProcess {
    try {
      return crew.take(options.patienceMs > 0 && performance.now() >= givesWayAtMs);
    } catch (cause) {
      throw new RenderUnavailable("A render worker could not be started.", { cause });
    }
  }

  async function attempt(task: RenderTask, bytes: Uint8Array, attemptsLeft: number): Promise<WorkerOutcome> {
    if (closed) return { kind: "stopped" };
    const worker = takeWorker();
    const { deadlineMs, giveUpMs } = options;
    const patienceMs = worker.givesWay ? options.patienceMs : giveUpMs;
    const outcome = await worker.run({ task, bytes, limits: { deadlineMs, patienceMs, giveUpMs } });
    crew.putBack(worker, outcome);
    if (outcome.kind === "starved") {
      // Others keep every processor busy: from now on images claim their share, this one first.
      givesWayAtMs = performance.now() + pressingMs;
      if (worker.givesWay) return attempt(task, bytes, attemptsLeft);
    }
    // Once more, in case the system was short of memory or someone sent a signal.
    const isWorthAnother = outcome.kind === "crashed" && attemptsLeft > 1;
    return isWorthAnother ? attempt(task, bytes, attemptsLeft - 1) : outcome;
  }

  function getRetryAfterSec(): number {
    const waitSec = Math.ceil(((queue.length / size) * averageMs) / 1000);
    return Math.min(Math.max(waitSec, 1), maxRetryAfterSec);
  }

  return {
    async render(request) {
      if (closed) throw new RenderUnavailable(closedMessage);
      if (running >= size && queue.length >= queueLimit) throw new RenderQueueFull(getRetryAfterSec());

      const settled = Promise.withResolvers<RenderResult>();
      queue.push({ request, settled });
      startNext();
      return settled.promise;
    },
    status: () => ({ running, queued: queue.length, workerPids: crew.pids() }),
    async close() {
      closed = true;
      for (const { settled } of queue.splice(0)) settled.reject(new RenderUnavailable(closedMessage));
      await crew.stopAll();
    },
  };
}

/** What the first bytes and the length already tell; no worker need see it. */
function findProblem(bytes: Uint8Array): RenderProblem | null {
  if (findSourceKind(bytes) === null) return "unsupported";
  return bytes.length > maxSourceBytes ? "too-many-bytes" : null;
}

function toTask({ recipe, format, draft }: RenderRequest, source: SourceFile | null): RenderTask {
  const { width, height, fit, quality } = recipe;
  const sides = {
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  };
  return {
    order: { ...sides, fit, quality, format },
    source,
    draft: draft === undefined ? null : { path: draft.path, leastBytes: draft.leastBytes },
  };
}

function toResult(outcome: WorkerOutcome): RenderResult {
  switch (outcome.kind) {
    case "done": {
      const { reply, bytes, written } = outcome;
      if (!reply.ok) return reply;
      return { ok: true, bytes, written, contentType: `image/${reply.image.format}`, ...reply.image };
    }
    case "crashed":
      return { ok: false, problem: "unprocessable" };
    case "timeout":
      throw new RenderTimeout("The image took too long to render.");
    case "stopped":
      throw new RenderUnavailable(closedMessage);
    case "unread":
      throw new RenderUnavailable("A render worker looked for a file that it was not told of.");
    case "starved":
      throw new RenderUnavailable("The machine was too busy to let a render worker work.");
    case "failed":
      throw new RenderUnavailable(`A render worker failed: ${outcome.reason}`);
  }
}
