import * as router from "./handler/file-router.ts";
import * as reading from "./handler/read-handler.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";
import { receiveInDevelopment } from "./webhooks/development.ts";
import type { WebhookOptions } from "./webhooks/receive-delivery.ts";
import { answerWeb, readBytes } from "./webhooks/web-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";
export type { WebhookEvent } from "./webhooks/receive-delivery.ts";

interface HonoContext {
  req: { raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

/** Callbacks get Hono's own context: `createFileRouter<Context<Env>>()`. */
export const createFileRouter = <Context extends HonoContext = HonoContext>() =>
  router.createFileRouter<Context>();

/** `app.on(["GET", "POST"], "/api/upload", createRouteHandler({ router }))` */
export function createRouteHandler<Context extends HonoContext>(options: HandlerOptions<Context>) {
  const handle = createHandler(options);
  return async (context: Context): Promise<Response> => handle(await unread(context), context);
}

/** Hono caches a body that middleware has already read. */
async function unread({ req }: HonoContext): Promise<Request> {
  const { url, method, headers, bodyUsed } = req.raw;
  return bodyUsed ? new Request(url, { method, headers, body: await req.arrayBuffer() }) : req.raw;
}

/** `app.post("/hooks/upstow", createWebhookHandler({ onEvent }))` */
export function createWebhookHandler(options: WebhookOptions): (context: HonoContext) => Promise<Response> {
  receiveInDevelopment(options);
  return (context) =>
    answerWeb(options, context.req.raw, async () => readBytes((await unread(context)).body));
}

/** `app.get("/files/*", createReadHandler({ authorize }))` */
export function createReadHandler<Context extends HonoContext>(options: reading.ReadHandlerOptions<Context>) {
  const handle = reading.createReadHandler(options);
  return (context: Context): Promise<Response> => handle(context.req.raw, context);
}
