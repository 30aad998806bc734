import type { FastifyInstance } from "fastify";
import type { Deps } from "../../deps.ts";
import { signedOut } from "../../features/console/sessions.ts";
import { rateLimited } from "../rate-limit.ts";

const requestsPerMinute = 600;

export function requireSession(app: FastifyInstance, deps: Pick<Deps, "limiter">): void {
  app.addHook("onRequest", async ({ session }) => {
    if (session.accountId === undefined) throw signedOut();
    const hit = await deps.limiter.hit(`console:${session.id}`, requestsPerMinute);
    if (!hit.isAllowed) throw rateLimited(hit);
  });
}
