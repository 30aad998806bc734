import type { Batch } from "./batch.ts";
import { createMeter, type Meter } from "./meter.ts";
import type { Session } from "./session.ts";
import type { UploadedFile, UploadState, UploadStatus } from "./types.ts";

/** The queue's state of one file. */
export interface Entry {
  id: string;
  route: string;
  file: File;
  input: unknown;
  batch: Batch;
  /** The index of this file's permit in the batch. */
  index: number;
  status: UploadStatus;
  error: Error | null;
  uploaded: UploadedFile<unknown> | null;
  session: Session | null;
  fingerprint: string | null;
  /** Releases this upload to other tabs. */
  release(): void;
  meter: Meter;
  /** Stops the current run. */
  stop: AbortController | null;
  /** When the rate limit it is waiting for ends. */
  waitsUntilMs: number | null;
  /** The current run, until it has released everything. */
  run: Promise<void> | null;
  outcome: Outcome;
  /** As last described. */
  state: UploadState | null;
}

export interface Outcome {
  promise: Promise<UploadedFile<unknown>>;
  resolve(uploaded: UploadedFile<unknown>): void;
  reject(error: Error): void;
}

export function createEntry(
  given: Pick<Entry, "id" | "route" | "file" | "input" | "batch" | "index">,
): Entry {
  return {
    ...given,
    status: "queued",
    error: null,
    uploaded: null,
    session: null,
    fingerprint: null,
    release() {},
    meter: createMeter(),
    stop: null,
    waitsUntilMs: null,
    run: null,
    outcome: createOutcome(),
    state: null,
  };
}

export function createOutcome(): Outcome {
  const outcome = {} as Outcome;
  outcome.promise = new Promise((resolve, reject) => Object.assign(outcome, { resolve, reject }));
  // Callers that watch the snapshot instead must not get an unhandled rejection.
  outcome.promise.catch(() => {});
  return outcome;
}
