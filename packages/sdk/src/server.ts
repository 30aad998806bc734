export { createUpstow, type Upstow } from "./api/client.ts";
export type { UpstowOptions } from "./api/settings.ts";
export { UpstowAuthError, UpstowError, type UpstowErrorCode } from "./errors.ts";
export {
  type CompleteArgs,
  createFileRouter,
  type FailureArgs,
  type FileInfo,
  type FileRoute,
  type FileRouter,
  type FileSize,
  type MiddlewareArgs,
  type RouteInput,
  type RouteResult,
} from "./handler/file-router.ts";
export { createRouteHandler, type HandlerOptions } from "./handler/route-handler.ts";
