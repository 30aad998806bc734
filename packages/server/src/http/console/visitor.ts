import type { FastifyReply, FastifyRequest } from "fastify";
import type { Visitor } from "../../features/console/sessions.ts";
import type { SignedIn } from "../../features/console/sign-in.ts";
import { readSessionToken, setSessionCookie } from "./session-cookie.ts";

export function visitorOf(request: FastifyRequest): Visitor {
  return {
    address: request.clientAddress,
    userAgent: request.headers["user-agent"] ?? "",
    oldToken: readSessionToken(request),
  };
}

/** The page's own origin: of a change it was checked before any route runs, and browsers send it with every one. */
export function originOf(request: FastifyRequest): string {
  return request.headers.origin ?? "";
}

export function letIn(request: FastifyRequest, reply: FastifyReply, token: string): { ok: boolean } {
  setSessionCookie(request, reply, token);
  return { ok: true };
}

/** A password that was right may not be enough. */
export function letInOrAsk(
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: SignedIn,
): { ok: boolean } | { needsCode: true; ticket: string } {
  return "token" in outcome
    ? letIn(request, reply, outcome.token)
    : { needsCode: true, ticket: outcome.ticket };
}
