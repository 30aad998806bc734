import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { signedOut } from "../../features/console/sessions.ts";
import { rateLimited } from "../rate-limit.ts";

const requestsPerMinute = 600;

export function requireSession(app: FastifyInstance, deps: Pick<Deps, "limiter">): void {
  app.addHook("onRequest", async (request) => {
    const { session } = request;
    if (session.accountId === undefined) throw signedOut();
    const hit = await deps.limiter.hit(`${bucketOf(request)}:${session.id}`, requestsPerMinute);
    if (!hit.isAllowed) throw rateLimited(hit);
  });
}

/** Uploads count by themselves: a folder of hundreds of files must not shut out who uploads it from all pages. */
function bucketOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.url ?? "").includes("/upload/") ? "console-upload" : "console";
}
