import type { FastifyBaseLogger, FastifyInstance } from "fastify";

/**
 * One line per request. The route's pattern stands for the path, because paths and queries of presigned and
 * signed URLs hold signatures.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  if (!["info", "debug", "trace"].includes(log.level)) return;
  app.addHook("onResponse", (request, reply, done) => {
    log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        keyId: request.actor?.keyId,
        projectId: request.actor?.projectId,
      },
      "request",
    );
    done();
  });
}
