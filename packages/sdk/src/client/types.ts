import { UpstowError } from "../errors.ts";
import type { FileRouter, RouteInput, RouteResult } from "../handler/file-router.ts";
import type { PublicFile, RoutesAnswer } from "../handler/protocol.ts";
import type { Fetch } from "../http/call.ts";
import type { ImportProgress } from "../wire/files.ts";
import type { ResumeStore, SavedUpload } from "./resume-store.ts";

export interface UploaderOptions {
  /** The URL of your backend's route handler, such as `/api/upload`. */
  endpoint: string;
  /** Sent to your endpoint with every call, such as an Authorization header. */
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  fetch?: Fetch;
  /** Maximum concurrent request bodies across all files and parts. Default: 3. */
  concurrency?: number;
  /** How often a failed part or call is retried. Default: 3. */
  retries?: number;
  /** Delay before the first retry, doubled for each further one. Default: 1,000. */
  retryDelayMs?: number;
  /** Where unfinished uploads are remembered. Default: IndexedDB. `false` disables it. */
  resumeStore?: ResumeStore | false;
  /** Keep the sent bytes on the service when an upload fails, so that it can be resumed. */
  keepOnFailure?: boolean;
  /**
   * Compare stored bytes with the file by SHA-256. The service's own store reports the digest; files in a bucket are
   * read back once, which doubles the traffic.
   */
  verify?: boolean;
  /**
   * Removes metadata from images before they leave the page: `stripGps` or `stripAll` of `@upstow/sdk/strip-metadata`.
   * A function of your own must not change the size.
   */
  stripMetadata?: (file: File) => Promise<File>;
}

export type UploadStatus =
  | "queued"
  | "preparing"
  | "uploading"
  | "completing"
  /** Waiting for the rate limit; continues by itself after `waitSeconds`. */
  | "waiting"
  | "paused"
  | "done"
  | "failed"
  | "cancelled";

/** The progress of one file. A new object for every change. */
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
  /** Null while unknown. */
  readonly secondsLeft: number | null;
  /** Counts down while the upload is `waiting`; null otherwise. */
  readonly waitSeconds: number | null;
  /** This upload resumes an earlier one. */
  readonly isResumed: boolean;
  readonly error: Error | null;
  readonly uploaded: UploadedFile<unknown> | null;
}

/** Everything the uploader knows; the same object until something changes. */
export interface UploaderSnapshot {
  readonly uploads: readonly UploadState[];
  readonly isOnline: boolean;
  /** Across all files that are queued, uploading, paused or done. */
  readonly sentBytes: number;
  readonly totalBytes: number;
  readonly progress: number;
  readonly bytesPerSec: number;
  readonly secondsLeft: number | null;
}

export interface UploadedFile<Result> extends PublicFile {
  /** The return value of the route's `onUploadComplete`. */
  result: Result;
  /** True if all bytes were verified by SHA-256. */
  isVerified: boolean;
}

/** Some files of one `upload` call were not stored. `code` and the other fields are those of the first failure. */
export class UploadError<Result = unknown> extends UpstowError {
  override readonly name = "UploadError";
  /** The stored files, in the order of the call. */
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

/** The upload of one file. */
export interface UploadTask<Result> {
  readonly id: string;
  /** Resolves when your backend has confirmed the upload; rejects if it fails or is cancelled. */
  readonly done: Promise<UploadedFile<Result>>;
  getState(): UploadState;
  pause(): void;
  resume(): void;
  /** Stops the upload and removes the sent bytes. */
  cancel(): Promise<void>;
  /** Restarts a failed or cancelled upload; `done` is then a new promise. */
  retry(): void;
}

type NameOf<Router> = keyof Router & string;

type InputOption<Input> = unknown extends Input
  ? { input?: unknown }
  : undefined extends Input
    ? { input?: Input }
    : { input: Input };

export interface TogetherOption {
  /** The total number of files selected together, if they are added in several calls: `maxFileCount` counts them all. */
  of?: number;
}

/** `input` is required if the route declares one. */
export type AddArgs<Input, Options = object> =
  Record<never, never> extends InputOption<Input>
    ? [options?: InputOption<Input> & TogetherOption & Options]
    : [options: InputOption<Input> & TogetherOption & Options];

export interface WaitOptions {
  /** Cancels the files added by this call. */
  signal?: AbortSignal;
  onProgress?: (states: UploadState[]) => void;
}

export interface ImportUrlOptions {
  /** Ends the import, and removes what has arrived. */
  signal?: AbortSignal;
  onProgress?: (progress: ImportProgress) => void;
}

export interface Uploader<Router extends FileRouter = FileRouter> {
  /** Adds files to the queue and starts uploading. */
  add<Name extends NameOf<Router>>(
    route: Name,
    files: Iterable<File> | File,
    ...options: AddArgs<RouteInput<Router, Name>>
  ): UploadTask<RouteResult<Router, Name>>[];
  /**
   * Adds files and waits for all of them. If some fail, rejects with an `UploadError` once all have ended: its `files`
   * are the stored ones, its `failures` the others.
   */
  upload<Name extends NameOf<Router>>(
    route: Name,
    files: Iterable<File> | File,
    ...options: AddArgs<RouteInput<Router, Name>, WaitOptions>
  ): Promise<UploadedFile<RouteResult<Router, Name>>[]>;

  /**
   * Has the service fetch a URL, on a route with `fromUrl`. Resolves once your backend has confirmed the file. It is no
   * part of the queue.
   */
  importFromUrl<Name extends NameOf<Router>>(
    route: Name,
    url: string,
    ...options: AddArgs<RouteInput<Router, Name>, ImportUrlOptions>
  ): Promise<UploadedFile<RouteResult<Router, Name>>>;

  /** All files, or the one with this id. */
  pause(id?: string): void;
  resume(id?: string): void;
  cancel(id?: string): Promise<void>;
  /** Retries failed and cancelled files. */
  retry(id?: string): void;
  /** Removes files that are done, failed or cancelled from the list. */
  clear(id?: string): void;

  subscribe(listener: () => void): () => void;
  getSnapshot(): UploaderSnapshot;

  /**
   * Uploads through this endpoint that an earlier page left unfinished and that are not active in any tab. They resume
   * when the same file is added to the same route.
   */
  listResumable(): Promise<SavedUpload[]>;
  /** Discards such an upload and removes the sent bytes. */
  discardResumable(upload: SavedUpload): Promise<void>;
  /** What each route of the backend accepts. */
  getRoutes(): Promise<RoutesAnswer["routes"]>;
  /** Pauses everything and removes all listeners from the page. Uploads stay resumable. */
  destroy(): void;
}
