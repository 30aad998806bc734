import { callTo } from "../../../kernel/calls.ts";
import type { Recipe } from "../recipe.ts";
import { createReusedMemory, type GetMemory } from "./frame-channel.ts";
import type { JobLimits } from "./job-deadline.ts";
import {
  maxSourceBytes,
  RenderAbandoned,
  type RenderedImage,
  type RenderOrder,
  type RenderProblem,
  RenderQueueFull,
  RenderTimeout,
  RenderUnavailable,
  type RequestedFormat,
  type SourceFile,
} from "./render-job.ts";
import { createRenderQueue, type QueueLimits } from "./render-queue.ts";
import { type OpenSource, openSourceFile } from "./send-source.ts";
import { findSourceKind } from "./sniff-image.ts";
import { createWorkerCrew } from "./worker-crew.ts";
import type { WorkerOutcome, WorkerProcess } from "./worker-process.ts";

/** Processes start on first use. A source is read when its turn comes, so that waiting jobs use no memory. */
export interface RenderPoolOptions extends JobLimits, QueueLimits {
  /** A worker that uses more memory after a job is replaced. */
  maxRssBytes: number;
  /** A worker is replaced after this many jobs. */
  maxJobs: number;
}

export interface RenderRequest {
  /** Accounts take turns. */
  account: string;
  /** Whether only previews are waiting for it; checked again when it could start. */
  isPreview?(): boolean;
  /** Cancels a job that has not started. One that has continues: see `render`. */
  signal?: AbortSignal;
  /** The source's path on this machine, which avoids loading all of it here; null if there is none. */
  findSourceFile?(): Promise<SourceFile | null>;
  /**
   * For all other sources, and for a file that did not exist after all. `render` rethrows its errors. The memory
   * belongs to the source until the job has ended, and is then reused.
   */
  readSource(getMemory: GetMemory): Promise<Uint8Array>;
  recipe: Omit<Recipe, "format">;
  format: RequestedFormat;
}

export type RenderResult =
  | ({ ok: true; bytes: Buffer; contentType: string } & RenderedImage)
  | { ok: false; problem: RenderProblem };

export interface RenderPool {
  /**
   * Throws `RenderQueueFull`, `RenderAbandoned`, `RenderTimeout`, or `RenderUnavailable`. A running job is not
   * cancelled: starting a new worker takes longer than finishing most images, and a client that gave up on a slow one
   * will ask again.
   */
  render(request: RenderRequest): Promise<RenderResult>;
  status(): { running: number; queued: number; workerPids: number[] };
  /** Kills every worker; running jobs throw `RenderUnavailable`. */
  close(): Promise<void>;
}

interface Job {
  account: string;
  isPreview(): boolean;
  request: RenderRequest;
  settled: PromiseWithResolvers<RenderResult>;
}

const maxAttempts = 2;
/** How long workers do not yield after one of them was starved. */
const pressingMs = 10 * 60_000;
const maxRetryAfterSec = 30;
/** For each running job; larger sources get their own memory. */
const keptSourceBytes = 4 * 1024 * 1024;
const closedMessage = "The render pool is closed.";

export function createRenderPool(options: RenderPoolOptions): RenderPool {
  const crew = createWorkerCrew({ ...options, cpuSec: (options.deadlineMs / 1000) * options.maxJobs });
  const queue = createRenderQueue<Job>(options);
  const memories: GetMemory[] = [];
  let averageMs = 200;
  let closed = false;
  let givesWayAtMs = 0;

  function startWhatMay(): void {
    for (let job = queue.start(); job !== null; job = queue.start()) void runAndGoOn(job);
  }

  async function runAndGoOn(job: Job): Promise<void> {
    await runJob(job);
    queue.finish(job);
    startWhatMay();
  }

  async function runJob({ request, settled }: Job): Promise<void> {
    const startedAt = performance.now();
    try {
      const render = async () => (await renderFile(request)) ?? (await renderBytes(request));
      settled.resolve(await callTo("renderer", "render", render));
    } catch (error) {
      settled.reject(error);
    }
    averageMs += (performance.now() - startedAt - averageMs) / 10;
  }

  /** Null if the source has to be read in another way. */
  async function renderFile(request: RenderRequest): Promise<RenderResult | null> {
    const found = (await request.findSourceFile?.()) ?? null;
    if (found === null) return null;
    if (found.sizeBytes > maxSourceBytes) return { ok: false, problem: "too-many-bytes" };
    const source = await openSourceFile(found);
    if (source === null) return null;
    try {
      const outcome = await attempt(toOrder(request), source, maxAttempts);
      return outcome.kind === "unread" ? null : toResult(outcome);
    } finally {
      await source.close();
    }
  }

  async function renderBytes(request: RenderRequest): Promise<RenderResult> {
    const getMemory = memories.pop() ?? createReusedMemory(keptSourceBytes);
    try {
      const bytes = await request.readSource(getMemory);
      const problem = findProblem(bytes);
      if (problem !== null) return { ok: false, problem };
      return toResult(await attempt(toOrder(request), bytes, maxAttempts));
    } finally {
      memories.push(getMemory);
    }
  }

  async function takeWorker(): Promise<WorkerProcess> {
    try {
      return await crew.take(options.patienceMs > 0 && performance.now() >= givesWayAtMs);
    } catch (cause) {
      throw new RenderUnavailable("A render worker could not be started.", { cause });
    }
  }

  async function attempt(
    order: RenderOrder,
    source: Uint8Array | OpenSource,
    attemptsLeft: number,
  ): Promise<WorkerOutcome> {
    if (closed) return { kind: "stopped" };
    const worker = await takeWorker();
    const { deadlineMs, giveUpMs } = options;
    const patienceMs = worker.givesWay ? options.patienceMs : giveUpMs;
    const outcome = await worker.run({ order, source, limits: { deadlineMs, patienceMs, giveUpMs } });
    crew.putBack(worker, outcome);
    if (outcome.kind === "starved") {
      // Others keep every CPU busy: from now on images claim their share, this one first.
      givesWayAtMs = performance.now() + pressingMs;
      if (worker.givesWay) return attempt(order, source, attemptsLeft);
    }
    // Retry once, in case the system was low on memory or someone sent a signal.
    const isWorthAnother = outcome.kind === "crashed" && attemptsLeft > 1;
    return isWorthAnother ? attempt(order, source, attemptsLeft - 1) : outcome;
  }

  function getRetryAfterSec(ahead: number): number {
    const waitSec = Math.ceil(((ahead / options.size) * averageMs) / 1000);
    return Math.min(Math.max(waitSec, 1), maxRetryAfterSec);
  }

  function abandon(job: Job): void {
    if (queue.remove(job)) job.settled.reject(new RenderAbandoned("Nobody waits for the image any more."));
  }

  return {
    async render(request) {
      const { account, signal, isPreview = () => false } = request;
      if (closed) throw new RenderUnavailable(closedMessage);
      const job: Job = { account, isPreview, request, settled: Promise.withResolvers() };
      const ahead = queue.add(job);
      if (ahead !== null) throw new RenderQueueFull(getRetryAfterSec(ahead), isPreview());
      const onAbort = () => abandon(job);
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) abandon(job);
      startWhatMay();
      try {
        return await job.settled.promise;
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
    },
    status: () => {
      const { running, waiting } = queue.counts();
      return { running, queued: waiting, workerPids: crew.pids() };
    },
    async close() {
      closed = true;
      for (const { settled } of queue.takeAll()) settled.reject(new RenderUnavailable(closedMessage));
      await crew.stopAll();
    },
  };
}

/** What the first bytes and the length already show, without a worker. */
function findProblem(bytes: Uint8Array): RenderProblem | null {
  if (findSourceKind(bytes) === null) return "unsupported";
  return bytes.length > maxSourceBytes ? "too-many-bytes" : null;
}

function toOrder({ recipe, format }: RenderRequest): RenderOrder {
  const { width, height, fit, quality } = recipe;
  return {
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    fit,
    quality,
    format,
  };
}

function toResult(outcome: WorkerOutcome): RenderResult {
  switch (outcome.kind) {
    case "done": {
      const { reply, bytes } = outcome;
      if (!reply.ok) return reply;
      return { ok: true, bytes, contentType: `image/${reply.image.format}`, ...reply.image };
    }
    case "crashed":
      return { ok: false, problem: "unprocessable" };
    case "timeout":
      throw new RenderTimeout("The image took too long to render.");
    case "stopped":
      throw new RenderUnavailable(closedMessage);
    case "unread":
      throw new RenderUnavailable("A source broke off on its way to a render worker.");
    case "starved":
      throw new RenderUnavailable("The machine was too busy to let a render worker work.");
    case "failed":
      throw new RenderUnavailable(`A render worker failed: ${outcome.reason}`);
  }
}
