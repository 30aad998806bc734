import { UpstowError } from "../errors.ts";
import type { Meter } from "./meter.ts";
import type { Session } from "./session.ts";
import type { UploadedFile, UploadState, UploadStatus } from "./types.ts";

/** A call of `add`: its files are announced to the backend together. */
export interface Batch {
  /** One ticket for each file; asked for once, when the first file begins. */
  getTickets(): Promise<string[]>;
}

/** What the queue keeps of one file. */
export interface Entry {
  id: string;
  route: string;
  file: File;
  input: unknown;
  batch: Batch;
  /** Which of the batch's tickets is this file's. */
  index: number;
  status: UploadStatus;
  error: Error | null;
  uploaded: UploadedFile<unknown> | null;
  session: Session | null;
  fingerprint: string | null;
  meter: Meter;
  /** Stops the current run. */
  stop: AbortController | null;
  /** The current run, until it has let go of everything. */
  run: Promise<void> | null;
  outcome: Outcome;
  state: UploadState | null;
}

export interface Outcome {
  promise: Promise<UploadedFile<unknown>>;
  resolve(uploaded: UploadedFile<unknown>): void;
  reject(error: Error): void;
}

export function createOutcome(): Outcome {
  const outcome = {} as Outcome;
  outcome.promise = new Promise((resolve, reject) => Object.assign(outcome, { resolve, reject }));
  // Whoever watches the snapshot instead must not be punished for it.
  outcome.promise.catch(() => {});
  return outcome;
}

/** The same object as before while nothing has changed, so that a list draws only what moved. */
export function describe(entry: Entry): UploadState {
  const next = toState(entry);
  const keys = Object.keys(next) as (keyof UploadState)[];
  if (entry.state === null || keys.some((key) => entry.state?.[key] !== next[key])) entry.state = next;
  return entry.state;
}

function toState(entry: Entry): UploadState {
  const { id, route, file, status, error, uploaded, session, meter } = entry;
  const totalBytes = file.size;
  const sentBytes = status === "done" ? totalBytes : (session?.sentBytes() ?? 0);
  const bytesPerSec = status === "uploading" ? meter.bytesPerSec() : 0;
  return {
    id,
    route,
    file,
    status,
    sentBytes,
    totalBytes,
    ...timing(sentBytes, totalBytes, bytesPerSec),
    isResumed: session?.isResumed ?? false,
    error,
    uploaded,
  };
}

export function timing(sentBytes: number, totalBytes: number, bytesPerSec: number) {
  return {
    progress: totalBytes === 0 ? 0 : sentBytes / totalBytes,
    bytesPerSec,
    secondsLeft: bytesPerSec === 0 ? null : Math.ceil((totalBytes - sentBytes) / bytesPerSec),
  };
}

export const cancelled = () => new UpstowError("The upload was cancelled.", { code: "CANCELLED" });
