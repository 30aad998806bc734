import { createRouteHandler as createPlainHandler, type HandlerOptions } from "./handler/route-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export { createFileRouter, type FileRouter } from "./handler/file-router.ts";

/** `export const { GET, POST } = createRouteHandler({ router })` in `app/api/upload/route.ts`. */
export function createRouteHandler(options: HandlerOptions) {
  const handle = createPlainHandler(options);
  return { GET: handle, POST: handle };
}
