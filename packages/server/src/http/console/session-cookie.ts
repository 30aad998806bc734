import type { TLSSocket } from "node:tls";
import type { FastifyReply, FastifyRequest } from "fastify";

/** As long as a session may last at all; the server decides whether it still does. */
const maxAgeSec = 60 * 24 * 60 * 60;

/** Null also where two cookies have the name: one of them was planted, and nobody can tell which. */
export function readSessionToken(request: FastifyRequest): string | null {
  const name = cookieName(request);
  const values = (request.headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 && /^[\w-]{43}$/.test(values[0] ?? "") ? (values[0] ?? null) : null;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.header("set-cookie", sessionCookie(request, token, maxAgeSec));
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.header("set-cookie", sessionCookie(request, "", 0));
}

function sessionCookie(request: FastifyRequest, value: string, maxAge: number): string {
  const secure = isHttps(request) ? "; Secure" : "";
  return `${cookieName(request)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
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
