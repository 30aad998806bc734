import type { FastifyInstance } from "fastify";
import type { Deps } from "../../deps.ts";
import { findSession, type Session, signedOut } from "../../features/console/sessions.ts";
import { rateLimited } from "../rate-limit.ts";
import { readSessionToken } from "./session-cookie.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who is signed in; set on every route of the dashboard that needs it before its handler runs. */
    session: Session;
  }
}

const requestsPerMinute = 600;

/** Looks the session up on every request, so that a revocation holds at once on every instance. */
export function requireSession(app: FastifyInstance, deps: Deps): void {
  app.decorateRequest("session");
  app.addHook("onRequest", async (request) => {
    const token = readSessionToken(request);
    const session = token === null ? null : await findSession(deps, token);
    if (session === null) throw signedOut();
    const hit = await deps.limiter.hit(`console:${session.id}`, requestsPerMinute);
    if (!hit.isAllowed) throw rateLimited(hit);
    request.session = session;
  });
}
