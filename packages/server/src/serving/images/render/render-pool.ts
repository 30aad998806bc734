import { readFocus } from "../../../files/image-facts.ts";
import { callTo } from "../../../kernel/calls.ts";
import type { Recipe } from "../recipe.ts";
import type { ImageFacts } from "./facts/image-facts.ts";
import { createReusedMemory, type GetMemory } from "./frame-channel.ts";
import {
  maxSourceBytes,
  RenderAbandoned,
  type RenderedImage,
  type RenderOrder,
  type RenderProblem,
  RenderQueueFull,
  type RenderReply,
  RenderTimeout,
  RenderUnavailable,
  type RequestedFormat,
  type SourceFile,
  type WorkerOrder,
} from "./render-job.ts";
import { createRenderQueue, type QueueLimits } from "./render-queue.ts";
import { type OpenSource, openSourceFile } from "./send-source.ts";
import { findSourceKind } from "./sniff-image.ts";
import { createConverter } from "./tools/convert-source.ts";
import { noTools, type ToolKind, type Tools } from "./tools/recipes.ts";
import { createWorkerCrew } from "./worker-crew.ts";
import type { JobLimits, WorkerOutcome, WorkerProcess } from "./worker-process.ts";

/** Processes start on first use. A source is read when its turn comes, so that waiting jobs use no memory. */
export interface RenderPoolOptions extends JobLimits, QueueLimits {
  /** A worker that uses more memory after a job is replaced. */
  maxRssBytes: number;
  /** A worker is replaced after this many jobs. */
  maxJobs: number;
  /** For files that the decoders cannot read. */
  tools?: Tools;
}

export interface SourceRequest {
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
}

export interface RenderRequest extends SourceRequest {
  recipe: Omit<Recipe, "format">;
  /** The file's focus point, as stored. */
  focus?: string | null;
  format: RequestedFormat;
}

export type RenderResult =
  | ({ ok: true; bytes: Buffer; contentType: string } & RenderedImage)
  | { ok: false; problem: RenderProblem };

export type FactsResult = { ok: true; facts: ImageFacts } | { ok: false; problem: RenderProblem };

export interface RenderPool {
  /**
   * Throws `RenderQueueFull`, `RenderAbandoned`, `RenderTimeout`, or `RenderUnavailable`. A running job is not
   * cancelled: starting a new worker takes longer than finishing most images, and a client that gave up on a slow one
   * will ask again.
   */
  render(request: RenderRequest): Promise<RenderResult>;
  /** Throws what `render` throws. Readers of the same account come first. */
  describe(request: SourceRequest, keepsLocation: boolean): Promise<FactsResult>;
  status(): { running: number; queued: number; workerPids: number[] };
  /** Kills every worker; running jobs throw `RenderUnavailable`. */
  close(): Promise<void>;
}

interface Job {
  account: string;
  isPreview(): boolean;
  request: SourceRequest;
  order: WorkerOrder;
  settled: PromiseWithResolvers<Finished>;
}

/** A worker's response, with the bytes of an image. */
type Finished = { reply: RenderReply; bytes: Buffer };

type Source = Uint8Array | OpenSource;

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
  const converter = createConverter(options.tools ?? noTools, givesWay);
  const memories: GetMemory[] = [];
  let averageMs = 200;
  let closed = false;
  let givesWayAtMs = 0;

  /** Tools too: one that hardly runs gives up, and its file would count as unreadable. */
  function givesWay(): boolean {
    return options.patienceMs > 0 && performance.now() >= givesWayAtMs;
  }

  function startWhatMay(): void {
    for (let job = queue.start(); job !== null; job = queue.start()) void runAndGoOn(job);
  }

  async function runAndGoOn(job: Job): Promise<void> {
    await runJob(job);
    queue.finish(job);
    startWhatMay();
  }

  async function runJob({ request, order, settled }: Job): Promise<void> {
    const startedAt = performance.now();
    try {
      const render = async () => (await renderFile(request, order)) ?? (await renderBytes(request, order));
      settled.resolve(await callTo("renderer", "render", render));
    } catch (error) {
      settled.reject(error);
    }
    averageMs += (performance.now() - startedAt - averageMs) / 10;
  }

  /** Null if the source has to be read in another way. */
  async function renderFile(request: SourceRequest, order: WorkerOrder): Promise<Finished | null> {
    const found = (await request.findSourceFile?.()) ?? null;
    if (found === null) return null;
    if (found.sizeBytes > maxSourceBytes) return refuse("too-many-bytes");
    const source = await openSourceFile(found);
    if (source === null) return null;
    try {
      return await renderSource(order, source);
    } finally {
      await source.close();
    }
  }

  async function renderBytes(request: SourceRequest, order: WorkerOrder): Promise<Finished> {
    const getMemory = memories.pop() ?? createReusedMemory(keptSourceBytes);
    try {
      const bytes = await request.readSource(getMemory);
      if (bytes.length > maxSourceBytes) return refuse("too-many-bytes");
      const finished = await renderSource(order, bytes);
      if (finished === null) throw new RenderUnavailable("A source broke off on its way to a render worker.");
      return finished;
    } finally {
      memories.push(getMemory);
    }
  }

  /** Null if the source broke off. */
  async function renderSource(order: WorkerOrder, source: Source): Promise<Finished | null> {
    const kind = await converter.findKind(source);
    if (kind !== null) return renderConverted(order, kind, source);
    // Without waiting for a worker.
    if (source instanceof Uint8Array && findSourceKind(source) === null) return refuse("unsupported");
    const outcome = await attempt(order, source, maxAttempts);
    return outcome.kind === "unread" ? null : toFinished(outcome);
  }

  async function renderConverted(
    order: WorkerOrder,
    kind: ToolKind,
    source: Source,
  ): Promise<Finished | null> {
    const picture = await converter.toPicture(kind, source);
    if (picture === "unread") return null;
    // To us it is an image only as far as the tool can read it.
    if (picture === "refused" || findSourceKind(picture) === null) return refuse("unsupported");
    const finished = toFinished(await attempt(order, picture, maxAttempts));
    const { reply } = finished;
    if (!reply.ok || !("facts" in reply)) return finished;
    const facts = { ...reply.facts, ...(await converter.findFacts(kind, source)) };
    return { ...finished, reply: { ok: true, facts } };
  }

  async function takeWorker(): Promise<WorkerProcess> {
    try {
      return await crew.take(givesWay());
    } catch (cause) {
      throw new RenderUnavailable("A render worker could not be started.", { cause });
    }
  }

  async function attempt(order: WorkerOrder, source: Source, attemptsLeft: number): Promise<WorkerOutcome> {
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

  async function run(request: SourceRequest, order: WorkerOrder): Promise<Finished> {
    const { account, signal, isPreview = () => false } = request;
    if (closed) throw new RenderUnavailable(closedMessage);
    const job: Job = { account, isPreview, request, order, settled: Promise.withResolvers() };
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
  }

  return {
    async render(request) {
      const { reply, bytes } = await run(request, toOrder(request));
      if (!reply.ok) return reply;
      if (!("image" in reply)) throw mixedUp();
      return { ok: true, bytes, contentType: `image/${reply.image.format}`, ...reply.image };
    },
    async describe(request, keepsLocation) {
      const { reply } = await run({ ...request, isPreview: () => true }, { facts: { keepsLocation } });
      if (reply.ok && !("facts" in reply)) throw mixedUp();
      return reply;
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

function toOrder({ recipe, focus = null, format }: RenderRequest): RenderOrder {
  const point = recipe.gravity === "focus" ? readFocus(focus) : null;
  return { ...recipe, format, ...(point && { focus: point }) };
}

const refuse = (problem: RenderProblem): Finished => ({
  reply: { ok: false, problem },
  bytes: Buffer.alloc(0),
});

const mixedUp = () => new RenderUnavailable("A render worker answered another question.");

function toFinished(outcome: WorkerOutcome): Finished {
  switch (outcome.kind) {
    case "done":
      return outcome;
    case "crashed":
      return refuse("unprocessable");
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
