import { UpstowError } from "../errors.ts";
import type { FileRouter, RouteInput, RouteResult } from "../handler/file-router.ts";
import type { PublicFile, RoutesAnswer } from "../handler/protocol.ts";
import type { Fetch } from "../http/call.ts";
import type { ResumeStore, SavedUpload } from "./resume-store.ts";

export interface UploaderOptions {
  /** Where your backend has its route handler, such as `/api/upload`. */
  endpoint: string;
  /** Sent to your endpoint with every call, such as an Authorization header. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  fetch?: Fetch;
  /** Bodies under way at once, over all files and their parts; 3 unless given. */
  concurrency?: number;
  /** How often a part or a call that failed is repeated; 3 unless given. */
  retries?: number;
  /** The pause before the first repetition, doubled for each further one; 1,000 unless given. */
  retryDelayMs?: number;
  /** Where unfinished uploads are remembered: IndexedDB unless given; `false` remembers nothing. */
  resumeStore?: ResumeStore | false;
  /** Leave what was sent on the service when an upload fails, so that it can be resumed. */
  keepOnFailure?: boolean;
  /**
   * Compare stored bytes with the file, by SHA-256. The service's own store names them so; what lies in a bucket is
   * read once, which doubles the traffic.
   */
  verify?: boolean;
}

export type UploadStatus =
  | "queued"
  | "preparing"
  | "uploading"
  | "completing"
  /** Held back by the rate limit; goes on by itself after `waitSeconds`. */
  | "waiting"
  | "paused"
  | "done"
  | "failed"
  | "cancelled";

/** How far one file is. A new object for every change. */
export interface UploadState {
  readonly id: string;
  readonly route: string;
  readonly file: File;
  readonly status: UploadStatus;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly bytesPerSec: number;
  /** Null while nothing can be said. */
  readonly secondsLeft: number | null;
  /** Counts down while the upload is `waiting`; null otherwise. */
  readonly waitSeconds: number | null;
  /** This upload goes on where an earlier one stopped. */
  readonly isResumed: boolean;
  readonly error: Error | null;
  readonly uploaded: UploadedFile<unknown> | null;
}

/** Everything the uploader knows; the same object until something changes. */
export interface UploaderSnapshot {
  readonly uploads: readonly UploadState[];
  readonly isOnline: boolean;
  /** Over all files that are queued, under way, paused or done. */
  readonly sentBytes: number;
  readonly totalBytes: number;
  readonly progress: number;
  readonly bytesPerSec: number;
  readonly secondsLeft: number | null;
}

export interface UploadedFile<Result> extends PublicFile {
  /** What `onUploadComplete` of the route returned. */
  result: Result;
  /** True where all bytes were compared by SHA-256. */
  isVerified: boolean;
}

/** Some of the files of one `upload` call are not stored. `code` and the other fields are those of the first failure. */
export class UploadError<Result = unknown> extends UpstowError {
  override readonly name = "UploadError";
  /** What is stored, in the order of the call. */
  readonly files: UploadedFile<Result>[];
  readonly failures: Failure[];

  constructor(files: UploadedFile<Result>[], failures: [Failure, ...Failure[]]) {
    const count = files.length + failures.length;
    const first = failures[0].error as Error & Partial<UpstowError>;
    const { message, code = "UPLOAD_FAILED" } = first;
    super(count === 1 ? message : `${failures.length} of ${count} files were not uploaded. ${message}`, {
      ...first,
      code,
      cause: first,
    });
    this.files = files;
    this.failures = failures;
  }
}

interface Failure {
  file: File;
  error: Error;
}

/** One file on its way. */
export interface UploadTask<Result> {
  readonly id: string;
  /** Resolves when your backend has confirmed the upload; rejects when it failed or was cancelled. */
  readonly done: Promise<UploadedFile<Result>>;
  getState(): UploadState;
  pause(): void;
  resume(): void;
  /** Stops and removes what was sent. */
  cancel(): Promise<void>;
  /** After a failure or a cancellation; `done` is a new promise then. */
  retry(): void;
}

type NameOf<Router> = keyof Router & string;

type InputOption<Input> = unknown extends Input
  ? { input?: unknown }
  : undefined extends Input
    ? { input?: Input }
    : { input: Input };

export interface TogetherOption {
  /** How many files were chosen together, where they are added in several calls: `maxFileCount` counts them all. */
  of?: number;
}

/** `input` is needed exactly where the route asks for one. */
export type AddArgs<Input, Options = object> =
  Record<never, never> extends InputOption<Input>
    ? [options?: InputOption<Input> & TogetherOption & Options]
    : [options: InputOption<Input> & TogetherOption & Options];

export interface WaitOptions {
  /** Cancels what this call has added. */
  signal?: AbortSignal;
  onProgress?: (states: UploadState[]) => void;
}

export interface Uploader<Router extends FileRouter = FileRouter> {
  /** Adds files to the queue and begins. */
  add<Name extends NameOf<Router>>(
    route: Name,
    files: Iterable<File> | File,
    ...options: AddArgs<RouteInput<Router, Name>>
  ): UploadTask<RouteResult<Router, Name>>[];
  /**
   * Adds files and waits for all of them. Where some fail, it rejects with an `UploadError` once all have ended: its
   * `files` are those that are stored, its `failures` the others.
   */
  upload<Name extends NameOf<Router>>(
    route: Name,
    files: Iterable<File> | File,
    ...options: AddArgs<RouteInput<Router, Name>, WaitOptions>
  ): Promise<UploadedFile<RouteResult<Router, Name>>[]>;

  /** All files, or the one with this id. */
  pause(id?: string): void;
  resume(id?: string): void;
  cancel(id?: string): Promise<void>;
  /** Failed and cancelled files again. */
  retry(id?: string): void;
  /** Takes files that are done, failed or cancelled off the list. */
  clear(id?: string): void;

  subscribe(listener: () => void): () => void;
  getSnapshot(): UploaderSnapshot;

  /**
   * Uploads through this endpoint that an earlier page left unfinished, and that no tab is at. They go on when the same
   * file is added to the same route.
   */
  listResumable(): Promise<SavedUpload[]>;
  /** Gives such an upload up, and removes what was sent. */
  discardResumable(upload: SavedUpload): Promise<void>;
  /** What each route of the backend accepts. */
  getRoutes(): Promise<RoutesAnswer["routes"]>;
  /** Pauses everything and lets go of the page. Uploads stay resumable. */
  destroy(): void;
}
