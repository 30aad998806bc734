import { fastifyCookie, Signer } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Keyring } from "../../kernel/security/keyring.ts";

/** Browsers take the prefix only from the host itself over https: no neighbouring subdomain can plant the cookie. */
const hostPrefix = "__Host-";
export const cookieName = `${hostPrefix}upstow_session`;
/** Tells a browser that has signed in before from strangers. Outlives sessions; browsers keep nothing longer. */
const deviceCookieName = `${hostPrefix}upstow_device`;
const deviceMaxAgeSec = 400 * 24 * 60 * 60;

export const cookieAttributes = { path: "/", httpOnly: true, sameSite: "strict" } as const;

/** The newest of the installation's secrets signs and all of them are taken: replacing one signs nobody out. */
export function createSessionSigner(keyring: Keyring): Signer {
  return new Signer(keyring.keysFor("dashboard sessions").map((key) => key.export()));
}

/** As it was sent, signature and all. */
export function findSessionCookie(request: FastifyRequest): string | null {
  return findCookie(request, cookieName);
}

export function findDeviceCookie(request: FastifyRequest): string | null {
  return findCookie(request, deviceCookieName);
}

/** Null also where two have the name: one was planted, and nobody can tell which. */
function findCookie(request: FastifyRequest, secureName: string): string | null {
  const pairs = (request.headers.cookie ?? "").split(";");
  const name = isHttps(request) ? secureName : withoutPrefix(secureName);
  // The parser keeps the first of a name.
  const first = fastifyCookie.parse(pairs.join(";"))[name];
  const last = fastifyCookie.parse(pairs.reverse().join(";"))[name];
  return first === last ? (first ?? null) : null;
}

export function keepDeviceCookie(request: FastifyRequest, reply: FastifyReply, mark: string): void {
  reply.setCookie(deviceCookieName, mark, {
    ...cookieAttributes,
    secure: isHttps(request),
    maxAge: deviceMaxAgeSec,
  });
}

/**
 * The session comes first. Without TLS, which is on a developer's own machine, browsers refuse the prefix, and the
 * library knows one name.
 */
export function finishCookies(request: FastifyRequest, reply: FastifyReply): void {
  const cookies = [reply.getHeader("set-cookie") ?? []].flat().map(String);
  if (cookies.length === 0) return;
  const isSession = (cookie: string) => cookie.startsWith(`${cookieName}=`);
  const ordered = cookies.toSorted((a, b) => Number(isSession(b)) - Number(isSession(a)));
  const sent = isHttps(request) ? ordered : ordered.map(withoutPrefix);
  reply.removeHeader("set-cookie").header("set-cookie", sent);
}

function withoutPrefix(cookie: string): string {
  return cookie.startsWith(hostPrefix) ? cookie.slice(hostPrefix.length) : cookie;
}

/** Of what came here without TLS, a trusted proxy says how it was called; the rest came over loopback. */
export function isHttps(request: FastifyRequest): boolean {
  return request.protocol === "https";
}
