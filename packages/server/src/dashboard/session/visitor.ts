import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import { fastifyCookie, Signer } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { findAccountByEmail } from "../../projects/accounts/queries.ts";
import { findPasswordHash } from "../queries.ts";
import type { Entrant, Visitor } from "../sessions.ts";
import type { SignedIn } from "../sign-in.ts";

export function visitorOf(request: FastifyRequest): Visitor {
  return {
    address: request.clientAddress,
    userAgent: request.headers["user-agent"] ?? "",
    device: findDeviceCookie(request),
  };
}

/** The page's own origin. Browsers send it with every change, and it is checked before any route runs. */
export function visitorOrigin(request: FastifyRequest): string {
  return request.headers.origin ?? "";
}

/**
 * Always uses a new token, so that a session planted in someone's browser never becomes theirs. `signIn` stores it in
 * the transaction that signs them in; if the sign-in fails, the browser keeps its current cookie.
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

type DeviceDeps = Pick<Deps, "db" | "keyring">;

interface KnownAccount {
  id: string;
  passwordHash: string;
}

/**
 * What a browser keeps after a sign-in, to distinguish it from others who guess passwords for the same account. It grants no
 * access, only a separate limit of attempts. It is void when the password changes, so that anyone who knew the old one
 * counts as unknown again. Null for an account without a password.
 */
async function markDevice(
  { db, keyring }: DeviceDeps,
  accountId: string,
  given: string | null,
): Promise<string | null> {
  const found = await db.get(findPasswordHash, { accountId });
  if (found === null || found.password_hash === null) return null;
  const account = { id: accountId, passwordHash: found.password_hash };
  if (findName(keyring, given, account) !== null) return given;
  const [key] = signingKeys(keyring);
  if (key === undefined) throw new Error("the keyring has no secret");
  const name = randomBytes(12).toString("base64url");
  return `${name}.${signatureOf(key, account, name).toString("base64url")}`;
}

/** The id of a device that has signed in to the account before; null for all others. */
export async function findKnownDevice(
  { db, keyring }: DeviceDeps,
  email: string,
  mark: string | null,
): Promise<string | null> {
  if (mark === null) return null;
  const account = await db.get(findAccountByEmail, { email });
  if (account === null || account.password_hash === null) return null;
  return findName(keyring, mark, { id: account.id, passwordHash: account.password_hash });
}

function findName(keyring: Deps["keyring"], mark: string | null, account: KnownAccount): string | null {
  const [, name = "", text = ""] = /^([\w-]{16})\.([\w-]{43})$/.exec(mark ?? "") ?? [];
  const signature = Buffer.from(text, "base64url");
  const isKnown = signingKeys(keyring).some((key) => {
    const expected = signatureOf(key, account, name);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isKnown ? name : null;
}

function signatureOf(key: KeyObject, { id, passwordHash }: KnownAccount, name: string): Buffer {
  return createHmac("sha256", key).update(`${id}\n${passwordHash}\n${name}`).digest();
}

function signingKeys(keyring: Deps["keyring"]): KeyObject[] {
  return keyring.keysFor("known devices");
}

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

function findDeviceCookie(request: FastifyRequest): string | null {
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

function keepDeviceCookie(request: FastifyRequest, reply: FastifyReply, mark: string): void {
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
