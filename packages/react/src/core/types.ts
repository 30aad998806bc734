import type {
  FileRouter,
  FileType,
  RouteInput,
  RouteResult,
  UploadedFile,
  UploadStatus,
} from "@upstow/sdk/client";

/** `staged` waits for `start`; `rejected` was never sent, because it breaks a rule. */
export type ItemStatus = "staged" | "rejected" | UploadStatus;

/** One file in a list, the same object until something about it changes. */
export interface UploadItem<Result = unknown> {
  readonly id: string;
  readonly file: File;
  readonly status: ItemStatus;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly bytesPerSec: number;
  /** Null while nothing can be said. */
  readonly secondsLeft: number | null;
  /** Counts down while the upload is `waiting` for the rate limit; null otherwise. */
  readonly waitSeconds: number | null;
  /** This upload goes on where an earlier page stopped. */
  readonly isResumed: boolean;
  readonly error: Error | null;
  readonly uploaded: UploadedFile<Result> | null;
  /** For pictures and videos: an address that shows the file before it is uploaded. */
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

/** What all files of a list are at together: under way beats paused, paused beats staged, and so on. */
export type ListStatus = "idle" | "staged" | "uploading" | "paused" | "failed" | "done";

export interface UploadList<Result = unknown> {
  readonly items: readonly UploadItem<Result>[];
  /** To be continued or discarded; empty until they are known. */
  readonly unfinished: readonly UnfinishedUpload[];
  readonly status: ListStatus;
  /** Over all files that were not refused, failed or cancelled. */
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly bytesPerSec: number;
  readonly secondsLeft: number | null;
  /** Counts down while the rate limit holds everything back; null otherwise. */
  readonly waitSeconds: number | null;
  readonly isOnline: boolean;
  /** What a screen reader should say now. */
  readonly announcement: string;
}

/** Null stands for no limit. */
export interface Limits {
  /** Bytes. */
  maxFileSize: number | null;
  maxFileCount: number | null;
}

/** What a route accepts. */
export interface Rules extends Limits {
  allowedTypes: readonly string[];
  /** Of each type, where they differ. */
  limits?: Record<string, Limits> | undefined;
}

export interface UploadOptions<Input = unknown, Result = unknown> {
  /** A route of your backend's file router. */
  route: string;
  /** Sent along to the route, if it asks for something. */
  input?: Input | undefined;
  /** MIME types (`image/*`, or `image` for short) or endings (`.csv`); what the route allows unless given. */
  accept?: readonly (FileType | `.${string}`)[] | undefined;
  /** Bytes; what the route allows unless given. */
  maxFileSize?: number | undefined;
  /** Files in the list; what the route allows unless given. With 1, a new file takes the place of the old. */
  maxFileCount?: number | undefined;
  /** False keeps new files `staged` until `start` is called. */
  autoStart?: boolean | undefined;
  isDisabled?: boolean | undefined;
  /** A sentence refuses the file. */
  validate?: ((file: File) => string | null) | undefined;
  onAdded?: ((items: UploadItem<Result>[]) => void) | undefined;
  /** Once for every file that your backend has confirmed. */
  onUploaded?: ((done: { file: UploadedFile<Result>; item: UploadItem<Result> }) => void) | undefined;
  /** Refused and failed files. */
  onFailed?: ((failure: { error: Error; item: UploadItem<Result> }) => void) | undefined;
  /** When nothing is under way any more and nothing failed. */
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

/** Of one route: `input` is needed exactly where the route asks for one. */
export type RouteOptions<Router, Name extends RouteName<Router>> = Omit<
  UploadOptions<RouteInput<Router, Name>, RouteResult<Router, Name>>,
  "route" | "input"
> & { route: Name } & (undefined extends RouteInput<Router, Name>
    ? { input?: RouteInput<Router, Name> }
    : { input: RouteInput<Router, Name> });
