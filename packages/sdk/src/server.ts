export { createUpstow, type Upstow } from "./api/client.ts";
export type { UpstowOptions } from "./api/settings.ts";
export { UpstowAuthError, UpstowError, type UpstowErrorCode } from "./errors.ts";
export {
  type CompleteArgs,
  createFileRouter,
  type FailureArgs,
  type FileRoute,
  type FileRouter,
  type MiddlewareArgs,
  type RouteInput,
  type RouteResult,
} from "./handler/file-router.ts";
export { createReadHandler, type ReadArgs, type ReadHandlerOptions } from "./handler/read-handler.ts";
export { createRouteHandler, type HandlerOptions } from "./handler/route-handler.ts";
export type { FileInfo, FileLimits, FileSize, FileType, LimitsByType } from "./handler/rules.ts";
