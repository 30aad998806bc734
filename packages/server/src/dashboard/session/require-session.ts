import { DASHBOARD_RATE_LIMIT } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { rateLimited } from "../../kernel/rate-limiter.ts";
import { signedOut } from "../sessions.ts";

export function requireSession(app: FastifyInstance, deps: Pick<Deps, "limiter">): void {
  app.addHook("onRequest", async (request) => {
    const { session } = request;
    if (session.accountId === undefined) throw signedOut();
    // Counted per account: another session must not bring another window.
    const hit = await deps.limiter.hit(`${bucketOf(request)}:${session.accountId}`, DASHBOARD_RATE_LIMIT);
    if (!hit.isAllowed) throw rateLimited(hit);
  });
}

/** Uploads count by themselves: a folder of hundreds of files must not shut out who uploads it from all pages. */
function bucketOf({ routeOptions }: FastifyRequest): string {
  return (routeOptions.url ?? "").includes("/upload/") ? "console-upload" : "console";
}
