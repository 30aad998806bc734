import * as reading from "./handler/read-handler.ts";
import { createRouteHandler as createPlainHandler, type HandlerOptions } from "./handler/route-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export { createFileRouter, type FileRouter } from "./handler/file-router.ts";
export type { WebhookEvent } from "./webhooks/receive-delivery.ts";
/** `export const POST = createWebhookHandler({ onEvent })` in `app/api/upstow/route.ts`. */
export { createWebhookHandler } from "./webhooks/web-handler.ts";

/** `export const { GET, POST } = createRouteHandler({ router })` in `app/api/upload/route.ts`. */
export function createRouteHandler(options: HandlerOptions) {
  const handle = createPlainHandler(options);
  return { GET: handle, POST: handle };
}

/** `export const { GET, HEAD } = createReadHandler({ authorize })` in `app/api/files/[...key]/route.ts`. */
export function createReadHandler(options: reading.ReadHandlerOptions) {
  const handle = reading.createReadHandler(options);
  const answer = (request: Request): Promise<Response> => handle(request, undefined);
  return { GET: answer, HEAD: answer };
}
