import type {
  FileRouter,
  FileType,
  RouteInput,
  RouteResult,
  UploadedFile,
  UploadStatus,
} from "@upstow/sdk/client";

/** `staged` waits for `start`; `rejected` was never sent because it breaks a rule. */
export type ItemStatus = "staged" | "rejected" | UploadStatus;

/** One file in a list; the same object until it changes. */
export interface UploadItem<Result = unknown> {
  readonly id: string;
  readonly file: File;
  readonly status: ItemStatus;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly bytesPerSec: number;
  /** Null while unknown. */
  readonly secondsLeft: number | null;
  /** Counts down while the upload is `waiting` for the rate limit; null otherwise. */
  readonly waitSeconds: number | null;
  /** This upload resumes one from an earlier page. */
  readonly isResumed: boolean;
  readonly error: Error | null;
  readonly uploaded: UploadedFile<Result> | null;
  /** For images and videos: a URL that shows the file before it is uploaded. */
  readonly previewUrl: string | null;
}

/** An upload of this route that an earlier page left unfinished. */
export interface UnfinishedUpload {
  readonly id: string;
  readonly name: string;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** 0 to 1. */
  readonly progress: number;
}

/** The combined state of a list: uploading takes precedence over paused, paused over staged, and so on. */
export type ListStatus = "idle" | "staged" | "uploading" | "paused" | "failed" | "done";

export interface UploadList<Result = unknown> {
  readonly items: readonly UploadItem<Result>[];
  /** Can be resumed or discarded; empty until known. */
  readonly unfinished: readonly UnfinishedUpload[];
  readonly status: ListStatus;
  /** Across all files that were not rejected, failed or cancelled. */
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly bytesPerSec: number;
  readonly secondsLeft: number | null;
  /** Counts down while everything waits for the rate limit; null otherwise. */
  readonly waitSeconds: number | null;
  readonly isOnline: boolean;
  /** What a screen reader should announce now. */
  readonly announcement: string;
}

/** Null means no limit. */
export interface Limits {
  /** Bytes. */
  maxFileSize: number | null;
  maxFileCount: number | null;
}

/** What a route accepts. */
export interface Rules extends Limits {
  allowedTypes: readonly string[];
  /** Per type, where they differ. */
  limits?: Record<string, Limits> | undefined;
}

export interface UploadOptions<Input = unknown, Result = unknown> {
  /** A route of your backend's file router. */
  route: string;
  /** Input for the route, if it declares one. */
  input?: Input | undefined;
  /** MIME types (`image/*`, or `image` for short) or extensions (`.csv`). Default: what the route allows. */
  accept?: readonly (FileType | `.${string}`)[] | undefined;
  /** Bytes. Default: what the route allows. */
  maxFileSize?: number | undefined;
  /** Files in the list. Default: what the route allows. With 1, a new file replaces the old one. */
  maxFileCount?: number | undefined;
  /** False keeps new files `staged` until `start` is called. */
  autoStart?: boolean | undefined;
  isDisabled?: boolean | undefined;
  /** Return a message to reject the file. */
  validate?: ((file: File) => string | null) | undefined;
  onAdded?: ((items: UploadItem<Result>[]) => void) | undefined;
  /** Called once for every file that your backend has confirmed. */
  onUploaded?: ((done: { file: UploadedFile<Result>; item: UploadItem<Result> }) => void) | undefined;
  /** Called for rejected and failed files. */
  onFailed?: ((failure: { error: Error; item: UploadItem<Result> }) => void) | undefined;
  /** Called when all uploads have finished and none failed. */
  onAllDone?: ((items: readonly UploadItem<Result>[]) => void) | undefined;
}

/**
 * Declare your router here once, and every component and hook knows its routes, inputs and results:
 *
 *     declare module "@upstow/react" {
 *       interface Register {
 *         router: Router;
 *       }
 *     }
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add to it
export interface Register {}

export type RegisteredRouter = Register extends { router: infer Router extends FileRouter }
  ? Router
  : FileRouter;

export type RouteName<Router = RegisteredRouter> = keyof Router & string;

/** Options for one route: `input` is required if the route declares one. */
export type RouteOptions<Router, Name extends RouteName<Router>> = Omit<
  UploadOptions<RouteInput<Router, Name>, RouteResult<Router, Name>>,
  "route" | "input"
> & { route: Name } & (undefined extends RouteInput<Router, Name>
    ? { input?: RouteInput<Router, Name> }
    : { input: RouteInput<Router, Name> });
