import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { findAccountByEmail } from "../../projects/accounts/queries.ts";
import { findPasswordHash } from "../queries.ts";
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
 * What a browser keeps after a sign-in, to set it apart from strangers who guess at the same account. It grants no
 * access, only a separate limit of attempts. It is void when the password changes, so that anyone who knew the old one
 * becomes a stranger. Null for an account without a password.
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
  if (key === undefined) throw new Error("the keyring holds no secret");
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
