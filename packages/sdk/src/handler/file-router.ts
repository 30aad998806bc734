import type { CompletedFile } from "../wire/files.ts";
import type { Jsonified } from "./json-types.ts";
import { type CheckedRules, checkRules, type FileInfo, type RouteRules } from "./rules.ts";
import type { StandardSchema } from "./standard-schema.ts";

export interface MiddlewareArgs<Context, Input> {
  request: Request;
  /** What the framework gave: see the adapter. */
  context: Context;
  input: Input;
  /** What is to be uploaded, up to 500 files at a time; type, size and count are checked already. */
  files: FileInfo[];
}

export interface CompleteArgs<Context, Meta> {
  file: CompletedFile;
  /** What `middleware` returned, as JSON. */
  metadata: Jsonified<Meta>;
  request: Request;
  context: Context;
  /** The upload was complete already: the answer of an earlier call may have been lost. */
  isRepeat: boolean;
}

export interface FailureArgs<Meta> {
  error: Error;
  file: FileInfo;
  metadata: Jsonified<Meta>;
}

export interface RouteConfig<Context, Schema extends StandardSchema | undefined, Meta, Result>
  extends RouteRules {
  /** The file route of the service that the files go to; `default` unless given. */
  routeSlug?: string;
  /** Checks what the browser sends along. */
  input?: Schema;
  /**
   * Decides who may upload: throw an `UpstowAuthError` to refuse. What it returns is stored as the file's metadata
   * (with the route's name as `route`), reaches the callbacks and the webhook, and never the browser. An upload is
   * resumed only for the same result.
   */
  middleware?: (args: MiddlewareArgs<Context, OutputOf<Schema>>) => Meta | Promise<Meta>;
  /** Runs at least once for every upload; what it returns reaches the browser. */
  onUploadComplete?: (args: CompleteArgs<Context, Meta>) => Result | Promise<Result>;
  /**
   * Hears once of an upload that is given up after it was allowed. What another try may still complete is no such
   * failure: errors of the service and of `onUploadComplete` go to the handler's `onError`.
   */
  onUploadError?: (args: FailureArgs<Meta>) => void | Promise<void>;
}

type TypesOf<Schema> = Schema extends StandardSchema ? NonNullable<Schema["~standard"]["types"]> : undefined;
type OutputOf<Schema> = TypesOf<Schema> extends { output: infer Output } ? Output : undefined;
type InputOf<Schema> = TypesOf<Schema> extends { input: infer Input } ? Input : undefined;

/** A route, its functions seen from the handler, which knows nothing of their types. */
export interface FileRoute<Context = unknown, Input = unknown, Result = unknown> {
  readonly rules: CheckedRules;
  readonly routeSlug?: string | undefined;
  readonly input?: StandardSchema | undefined;
  middleware?(args: MiddlewareArgs<Context, unknown>): unknown;
  onUploadComplete?(args: CompleteArgs<Context, unknown>): unknown;
  onUploadError?(args: FailureArgs<unknown>): unknown;
  /** For types alone; never there. */
  readonly "~types"?: { context: (context: Context) => void; input: Input; result: Result };
}

/** `{ … } satisfies FileRouter`: names with their routes. */
export type FileRouter<Context = never> = Record<string, FileRoute<Context>>;

export type RouteInput<Router, Name extends keyof Router> =
  Router[Name] extends FileRoute<never, infer Input, unknown> ? Input : unknown;

/** What the browser gets of what `onUploadComplete` returned. */
export type RouteResult<Router, Name extends keyof Router> =
  Router[Name] extends FileRoute<never, unknown, infer Result> ? Jsonified<Result> : unknown;

/** Makes the function that makes routes. `Context` is what the framework's adapter hands to callbacks. */
export function createFileRouter<Context = unknown>() {
  return <Schema extends StandardSchema | undefined = undefined, Meta = undefined, Result = undefined>(
    config: RouteConfig<Context, Schema, Meta, Result>,
    // The result comes from the callback alone, never from where the route is put.
  ): FileRoute<Context, InputOf<Schema>, NoInfer<Result>> =>
    ({ ...config, rules: checkRules(config) }) as FileRoute<Context, InputOf<Schema>, Result>;
}
