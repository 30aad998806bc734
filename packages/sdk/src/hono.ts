import * as router from "./handler/file-router.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";
import type { WebhookOptions } from "./webhooks/receive-delivery.ts";
import { answerWeb, readBytes } from "./webhooks/web-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";
export type { WebhookEvent } from "./webhooks/receive-delivery.ts";

interface HonoContext {
  req: { raw: Request };
}

/** Callbacks get Hono's own context: `createFileRouter<Context<Env>>()`. */
export const createFileRouter = <Context extends HonoContext = HonoContext>() =>
  router.createFileRouter<Context>();

/** `app.on(["GET", "POST"], "/api/upload", createRouteHandler({ router }))` */
export function createRouteHandler<Context extends HonoContext>(options: HandlerOptions<Context>) {
  const handle = createHandler(options);
  return (context: Context): Promise<Response> => handle(context.req.raw, context);
}

interface HonoWebhookContext {
  req: { raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

/** `app.post("/hooks/upstow", createWebhookHandler({ onEvent }))` */
export function createWebhookHandler(
  options: WebhookOptions,
): (context: HonoWebhookContext) => Promise<Response> {
  return ({ req }) =>
    // What a middleware has read before is kept by Hono.
    answerWeb(options, req.raw, async () =>
      req.raw.bodyUsed ? new Uint8Array(await req.arrayBuffer()) : readBytes(req.raw.body),
    );
}
