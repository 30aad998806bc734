import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { markDevice } from "../known-devices.ts";
import type { Entrant, Visitor } from "../sessions.ts";
import type { SignedIn } from "../sign-in.ts";
import { cookieName, findDeviceCookie, keepDeviceCookie } from "./session-cookie.ts";

export function visitorOf(request: FastifyRequest): Visitor {
  return {
    address: request.clientAddress,
    userAgent: request.headers["user-agent"] ?? "",
    device: findDeviceCookie(request),
  };
}

/** The page's own origin: of a change it was checked before any route runs, and browsers send it with every one. */
export function originOf(request: FastifyRequest): string {
  return request.headers.origin ?? "";
}

/**
 * Always under a new token: a session planted in somebody's browser never becomes theirs. `signIn` writes it down in
 * the transaction that lets them in, and where nobody is let in the browser keeps what it came with.
 */
export async function letIn(
  deps: Pick<Deps, "db" | "keyring">,
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: (entrant: Entrant) => Promise<SignedIn>,
): Promise<{ ok: boolean } | { needsCode: true; ticket: string }> {
  const old = request.session;
  await old.regenerate();
  const fresh = request.session;
  request.session = old;
  const tokens = { token: fresh.sessionId, oldToken: old.sessionId };
  const visitor = visitorOf(request);
  const outcome = await signIn({ ...visitor, ...tokens });
  if ("ticket" in outcome) return { needsCode: true, ticket: outcome.ticket };
  fresh.accountId = outcome.accountId;
  request.session = fresh;
  const mark = await markDevice(deps, outcome.accountId, visitor.device);
  if (mark !== null && mark !== visitor.device) keepDeviceCookie(request, reply, mark);
  return { ok: true };
}

export async function letOut(request: FastifyRequest, reply: FastifyReply): Promise<{ ok: boolean }> {
  await request.session.destroy();
  reply.clearCookie(cookieName);
  return { ok: true };
}
