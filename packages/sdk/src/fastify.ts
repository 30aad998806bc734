import * as router from "./handler/file-router.ts";
import { type NodeRequest, toWebRequest } from "./handler/node-request.ts";
import * as reading from "./handler/read-handler.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";
import { receiveInDevelopment } from "./webhooks/development.ts";
import { receiveDelivery, tooLarge, type WebhookOptions } from "./webhooks/receive-delivery.ts";
import { readBytes } from "./webhooks/web-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";
export type { WebhookEvent } from "./webhooks/receive-delivery.ts";

export interface FastifyRequest extends NodeRequest {
  body: unknown;
}

export interface FastifyReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string | ReadableStream | null): unknown;
}

/** Callbacks get Fastify's request: `createFileRouter<FastifyRequest>()` makes `context.request` yours. */
export const createFileRouter = <Req extends NodeRequest = FastifyRequest>() =>
  router.createFileRouter<{ request: Req }>();

/** `fastify.route({ method: ["GET", "POST"], url: "/api/upload", handler: createRouteHandler({ router }) })` */
export function createRouteHandler<Req extends NodeRequest>(options: HandlerOptions<{ request: Req }>) {
  const handle = createHandler(options);
  return async (request: Req & FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const response = await handle(await toWebRequest(request, request.body, null), { request });
    reply.code(response.status);
    response.headers.forEach((value, name) => {
      reply.header(name, value);
    });
    return reply.send(await response.text());
  };
}

interface FastifyApp {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: AsyncIterable<Uint8Array>) => Promise<unknown>,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

/**
 * `fastify.register(createWebhookPlugin({ path: "/hooks/upstow", onEvent }))`. A plugin, because only an
 * encapsulated scope can leave bodies unparsed, as signature checks require.
 */
export function createWebhookPlugin(options: WebhookOptions & { path: string }) {
  receiveInDevelopment(options);
  return async (app: FastifyApp): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, payload) => readBytes(payload));
    app.post(options.path, async ({ body, headers }, reply) => {
      const bytes = body instanceof Uint8Array ? body : "";
      const given = body === null ? tooLarge : await receiveDelivery(options, { body: bytes, headers });
      reply.code(given.status);
      reply.header("content-type", "application/json; charset=utf-8");
      return reply.send(JSON.stringify(given.body));
    });
  };
}

/** `fastify.get("/files/*", createReadHandler({ authorize }))` */
export function createReadHandler<Req extends NodeRequest>(
  options: reading.ReadHandlerOptions<{ request: Req }>,
) {
  const handle = reading.createReadHandler(options);
  return async (request: Req, reply: FastifyReply): Promise<unknown> => {
    const response = await handle(await toWebRequest(request, undefined, null), { request });
    reply.code(response.status);
    response.headers.forEach((value, name) => {
      reply.header(name, value);
    });
    return reply.send(response.body);
  };
}
