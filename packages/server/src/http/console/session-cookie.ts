import type { TLSSocket } from "node:tls";
import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

/** As long as a session may last at all; the server decides whether it still does. */
const maxAgeSec = 60 * 24 * 60 * 60;

/** Null also where two cookies have the name: one of them was planted, and nobody can tell which. */
export function readSessionToken(request: FastifyRequest): string | null {
  const pairs = (request.headers.cookie ?? "").split(";");
  const name = cookieName(request);
  // The parser keeps the first of a name.
  const first = parseCookie(pairs.join(";"))[name] ?? "";
  const last = parseCookie(pairs.reverse().join(";"))[name];
  return first === last && /^[\w-]{43}$/.test(first) ? first : null;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.header("set-cookie", sessionCookie(request, token, maxAgeSec));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("set-cookie", sessionCookie(request, "", 0));
}

function sessionCookie(request: FastifyRequest, value: string, maxAge: number): string {
  return stringifySetCookie({
    name: cookieName(request),
    value,
    maxAge,
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure: isHttps(request),
  });
}

/** Browsers take the prefix only from the host itself over https: no neighbouring subdomain can plant the cookie. */
function cookieName(request: FastifyRequest): string {
  return isHttps(request) ? "__Host-upstow_session" : "upstow_session";
}

/** What came here without TLS came over loopback or from a trusted proxy, which says how it was called. */
function isHttps(request: FastifyRequest): boolean {
  const isEncrypted = (request.socket as TLSSocket).encrypted === true;
  return isEncrypted || request.headers["x-forwarded-proto"] === "https";
}
