import * as router from "./handler/file-router.ts";
import * as reading from "./handler/read-handler.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";
import type { WebhookOptions } from "./webhooks/receive-delivery.ts";
import { createWebhookHandler as createPlainWebhookHandler } from "./webhooks/web-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";
export type { WebhookEvent } from "./webhooks/receive-delivery.ts";

interface SvelteKitEvent {
  request: Request;
}

/** Callbacks get the request event, `locals` included: `createFileRouter<RequestEvent>()`. */
export const createFileRouter = <Event extends SvelteKitEvent = SvelteKitEvent>() =>
  router.createFileRouter<Event>();

/** `export const { GET, POST } = createRouteHandler({ router })` in `src/routes/api/upload/+server.ts`. */
export function createRouteHandler<Event extends SvelteKitEvent>(options: HandlerOptions<Event>) {
  const handle = createHandler(options);
  const answer = (event: Event): Promise<Response> => handle(event.request, event);
  return { GET: answer, POST: answer };
}

/** `export const POST = createWebhookHandler({ onEvent })` in `src/routes/hooks/upstow/+server.ts`. */
export function createWebhookHandler(options: WebhookOptions): (event: SvelteKitEvent) => Promise<Response> {
  const handle = createPlainWebhookHandler(options);
  return ({ request }) => handle(request);
}

/** `export const { GET, HEAD } = createReadHandler({ authorize })` in `src/routes/files/[...key]/+server.ts`. */
export function createReadHandler<Event extends SvelteKitEvent>(options: reading.ReadHandlerOptions<Event>) {
  const handle = reading.createReadHandler(options);
  const answer = (event: Event): Promise<Response> => handle(event.request, event);
  return { GET: answer, HEAD: answer };
}
