import { fastifyCookie, Signer } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Keyring } from "../../kernel/security/keyring.ts";

/** Browsers accept the prefix only from the host itself over https, so no other subdomain can plant the cookie. */
const hostPrefix = "__Host-";
export const cookieName = `${hostPrefix}upstow_session`;
/** Recognises a browser that has signed in before. Outlives sessions; browsers keep no cookie longer. */
const deviceCookieName = `${hostPrefix}upstow_device`;
const deviceMaxAgeSec = 400 * 24 * 60 * 60;

export const cookieAttributes = { path: "/", httpOnly: true, sameSite: "strict" } as const;

/** The newest secret signs and all of them verify, so replacing one signs nobody out. */
export function createSessionSigner(keyring: Keyring): Signer {
  return new Signer(keyring.keysFor("dashboard sessions").map((key) => key.export()));
}

/** As sent, including the signature. */
export function findSessionCookie(request: FastifyRequest): string | null {
  return findCookie(request, cookieName);
}

export function findDeviceCookie(request: FastifyRequest): string | null {
  return findCookie(request, deviceCookieName);
}

/** Also null if two cookies have the name: one was planted, and there is no way to tell which. */
function findCookie(request: FastifyRequest, secureName: string): string | null {
  const pairs = (request.headers.cookie ?? "").split(";");
  const name = isHttps(request) ? secureName : withoutPrefix(secureName);
  // The parser keeps the first cookie of each name.
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
 * The session cookie first. Without TLS, on a developer's own machine, browsers reject the prefix, and the library
 * supports only one name.
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

/** For requests without TLS, a trusted proxy reports the original scheme; all others came over loopback. */
export function isHttps(request: FastifyRequest): boolean {
  return request.protocol === "https";
}
