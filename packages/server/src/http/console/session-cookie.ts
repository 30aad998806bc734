import { fastifyCookie, Signer } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Keyring } from "../../security/keyring.ts";

/** Browsers take the prefix only from the host itself over https: no neighbouring subdomain can plant the cookie. */
export const cookieName = "__Host-upstow_session";
/** Where there is no TLS, which is on a developer's own machine, browsers refuse the prefix. */
const plainName = "upstow_session";

export const cookieAttributes = { path: "/", httpOnly: true, sameSite: "strict" } as const;

/** The newest of the installation's secrets signs and all of them are taken: replacing one signs nobody out. */
export function createSessionSigner(keyring: Keyring): Signer {
  return new Signer(keyring.keysFor("dashboard sessions").map((key) => key.export()));
}

/** As it was sent, signature and all. Null also where two have the name: one was planted, and nobody can tell which. */
export function findSessionCookie(request: FastifyRequest): string | null {
  const pairs = (request.headers.cookie ?? "").split(";");
  const name = isHttps(request) ? cookieName : plainName;
  // The parser keeps the first of a name.
  const first = fastifyCookie.parse(pairs.join(";"))[name];
  const last = fastifyCookie.parse(pairs.reverse().join(";"))[name];
  return first === last ? (first ?? null) : null;
}

/** The library knows one name. */
export function sendUnderPlainName(reply: FastifyReply): void {
  const cookie = reply.getHeader("set-cookie");
  if (typeof cookie !== "string") return;
  reply.removeHeader("set-cookie").header("set-cookie", cookie.replace(cookieName, plainName));
}

/** Of what came here without TLS, a trusted proxy says how it was called; the rest came over loopback. */
export function isHttps(request: FastifyRequest): boolean {
  return request.protocol === "https";
}
