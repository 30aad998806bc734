import type { Access, CompletedFile } from "../wire/files.ts";
import type { Jsonified } from "./json-types.ts";
import {
  type CheckedRules,
  checkOptions,
  checkRules,
  type FileInfo,
  type RouteRules,
  ruleNames,
} from "./rules.ts";
import type { StandardSchema } from "./standard-schema.ts";

export interface MiddlewareArgs<Context, Input> {
  request: Request;
  /** The framework's own objects; see its adapter. */
  context: Context;
  input: Input;
  /** The files to upload, up to 500 at a time; type, size and count are already checked. None for an import. */
  files: FileInfo[];
  /** The URL that the service is asked to fetch, on routes with `fromUrl`. */
  url?: string;
}

export interface CompleteArgs<Context, Meta> {
  file: CompletedFile;
  /** The return value of `middleware`, as JSON. */
  metadata: Jsonified<Meta>;
  request: Request;
  context: Context;
  /** The upload was already complete: the response to an earlier call may have been lost. */
  isRepeat: boolean;
}

export interface FailureArgs<Meta> {
  error: Error;
  file: FileInfo;
  metadata: Jsonified<Meta>;
}

export interface RouteConfig<Context, Schema extends StandardSchema | undefined, Meta, Result>
  extends RouteRules {
  /** The service's file route for these files. Default: `default`. */
  routeSlug?: string;
  /** `private` files are read through links, grants and read handlers. Default: that of the service's file route. */
  access?: Access;
  /**
   * Seconds until a file is deleted, from the start of its upload. Null keeps it. Default: that of the service's file
   * route.
   */
  expiresIn?: number | null;
  /**
   * Browsers may name a URL, which the service fetches. Type and size are checked once the file is there, so give the
   * service's file route limits as well. Default: false.
   */
  fromUrl?: boolean;
  /** Validates the input that the browser sends. */
  input?: Schema;
  /**
   * Decides who may upload: throw an `UpstowAuthError` to reject. The return value is stored as the file's metadata
   * (with the route's name as `route`) and passed to the callbacks and the webhook, but never to the browser. An upload
   * is resumed only if the result is the same.
   */
  middleware?: (args: MiddlewareArgs<Context, OutputOf<Schema>>) => Meta | Promise<Meta>;
  /** Groups files for grants and revocation, such as `user:42`. Comes after `middleware`, whose type it takes. */
  audience?: (args: { metadata: Jsonified<Meta> }) => string | undefined;
  /** Runs at least once for every upload; the return value is sent to the browser. */
  onUploadComplete?: (args: CompleteArgs<Context, Meta>) => Result | Promise<Result>;
  /**
   * Called once for an upload that was allowed and then abandoned. Not called for errors that a retry may fix: errors
   * of the service and of `onUploadComplete` go to the handler's `onError`.
   */
  onUploadError?: (args: FailureArgs<Meta>) => void | Promise<void>;
}

type TypesOf<Schema> = Schema extends StandardSchema ? NonNullable<Schema["~standard"]["types"]> : undefined;
type OutputOf<Schema> = TypesOf<Schema> extends { output: infer Output } ? Output : undefined;
type InputOf<Schema> = TypesOf<Schema> extends { input: infer Input } ? Input : undefined;

/** A route as the handler sees it, without the types of its functions. */
export interface FileRoute<Context = unknown, Input = unknown, Result = unknown> {
  readonly rules: CheckedRules;
  readonly routeSlug?: string | undefined;
  readonly access?: Access | undefined;
  readonly expiresIn?: number | null | undefined;
  readonly fromUrl?: boolean | undefined;
  audience?(args: { metadata: unknown }): string | undefined;
  readonly input?: StandardSchema | undefined;
  middleware?(args: MiddlewareArgs<Context, unknown>): unknown;
  onUploadComplete?(args: CompleteArgs<Context, unknown>): unknown;
  onUploadError?(args: FailureArgs<unknown>): unknown;
  /** Type-only; never present at runtime. */
  readonly "~types"?: { context: (context: Context) => void; input: Input; result: Result };
}

/** `{ … } satisfies FileRouter`: routes by name. */
export type FileRouter<Context = never> = Record<string, FileRoute<Context>>;

export type RouteInput<Router, Name extends keyof Router> =
  Router[Name] extends FileRoute<never, infer Input, unknown> ? Input : unknown;

/** What the browser receives from `onUploadComplete`. */
export type RouteResult<Router, Name extends keyof Router> =
  Router[Name] extends FileRoute<never, unknown, infer Result> ? Jsonified<Result> : unknown;

const optionNames = [
  ...ruleNames,
  ...[
    "routeSlug",
    "access",
    "expiresIn",
    "fromUrl",
    "input",
    "middleware",
    "audience",
    "onUploadComplete",
    "onUploadError",
  ],
];

/** Returns the function that creates routes. `Context` is what the framework's adapter passes to callbacks. */
export function createFileRouter<Context = unknown>() {
  return <Schema extends StandardSchema | undefined = undefined, Meta = undefined, Result = undefined>(
    config: RouteConfig<Context, Schema, Meta, Result>,
    // Inferred from the callback alone, never from where the route is used.
  ): FileRoute<Context, InputOf<Schema>, NoInfer<Result>> => {
    checkOptions(config, optionNames, "a route");
    return { ...config, rules: checkRules(config) } as FileRoute<Context, InputOf<Schema>, Result>;
  };
}
