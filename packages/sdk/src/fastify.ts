import * as router from "./handler/file-router.ts";
import { type NodeRequest, toWebRequest } from "./handler/node-request.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";

export interface FastifyRequest extends NodeRequest {
  body: unknown;
}

export interface FastifyReply {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
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
