import { randomBytes } from "node:crypto";
import { callbackify } from "node:util";
import { fastifyCookie } from "@fastify/cookie";
import { fastifySession, type SessionStore } from "@fastify/session";
import { DASHBOARD_RATE_LIMIT } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Config } from "../../config.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { isLoopbackHost } from "../../kernel/net/listen-address.ts";
import { rateLimited } from "../../kernel/rate-limiter.ts";
import { authorOf, findSession, type Session as Person, signedOut } from "../sessions.ts";
import { createFullWindows, windowOf } from "./full-windows.ts";
import {
  cookieAttributes,
  cookieName,
  createSessionSigner,
  findSessionCookie,
  finishCookies,
  isHttps,
  visitorOf,
} from "./visitor.ts";

declare module "fastify" {
  /** The signed-in user; set by `requireSession`. */
  interface Session extends Person {}
}

/** The maximum lifetime of a session; the server decides whether it is still valid. */
const maxAgeMs = 60 * 24 * 60 * 60 * 1000;

/** Sessions for the routes of this scope. */
export async function openSessions(scope: FastifyInstance, deps: Deps): Promise<void> {
  await scope.register(fastifyCookie, { parseOptions: { ...cookieAttributes, secure: "auto" } });
  scope.addHook("onRequest", (request, _reply, done) => {
    const given = findSessionCookie(request);
    request.cookies = given === null ? {} : { [cookieName]: given };
    done();
  });
  scope.addHook("onSend", (request, _reply, payload, done) => {
    forgetStranger(request);
    done(null, payload);
  });
  await scope.register(fastifySession, {
    cookieName,
    cookie: { ...cookieAttributes, secure: true, maxAge: maxAgeMs },
    secret: createSessionSigner(deps.keyring),
    store: createSessionStore(deps),
    idGenerator: () => randomBytes(32).toString("base64url"),
    rolling: false,
  });
  scope.addHook("onRequest", (request, _reply, done) => {
    if (!isHttps(request)) request.session.options({ secure: false });
    done();
  });
  scope.addHook("onSend", (request, reply, payload, done) => {
    finishCookies(request, reply);
    done(null, payload);
  });
}

/**
 * The library would give everyone a cookie, and clear one it does not know. A user who just signed in again would lose
 * theirs to the late response of a request sent with the old one.
 */
function forgetStranger(request: { session: Partial<FastifyRequest["session"]> | null }): void {
  if (request.session?.accountId === undefined) request.session = null;
}

/**
 * The session table as a read-only store for the library. It is read on every request, so that revocations take effect
 * immediately on every instance. Our own transactions create and delete rows, together with whatever else changes then.
 * The library's writes and removals would come too early or too late, so they do nothing.
 */
function createSessionStore(deps: Pick<Deps, "db" | "now">): SessionStore {
  return {
    get: callbackify(async (token: string) => {
      const found = await findSession(deps, token);
      return found === null ? null : { ...found, cookie: { originalMaxAge: null } };
    }),
    set: (_token, _session, done) => done(),
    destroy: (_token, done) => done(),
  };
}

/** Routes of this scope need a session, and count toward its account's window. */
export async function requireSession(app: FastifyInstance, deps: Deps): Promise<void> {
  const fullWindows = createFullWindows();
  app.addHook("onRequest", (request, _reply, done) => {
    fullWindows.refuse(request);
    done();
  });
  await openSessions(app, deps);
  app.decorateRequest("author", {
    getter() {
      return authorOf(this.session, visitorOf(this));
    },
  });
  app.addHook("onRequest", async (request) => {
    const { session } = request;
    if (session.accountId === undefined) throw signedOut();
    request.userId = session.accountId;
    // Counted per account, so that another session does not get another window.
    const hit = await deps.limiter.hit(`${windowOf(request)}:${session.accountId}`, DASHBOARD_RATE_LIMIT);
    if (hit.isAllowed) return;
    fullWindows.remember(request, hit);
    throw rateLimited(hit);
  });
}

const reading = new Set(["GET", "HEAD"]);

/**
 * Changes are accepted only from the dashboard's own pages. Browsers send the page's origin with every such request and
 * pages cannot forge it, so a request without one did not come from our pages either.
 */
export function requireSameOrigin(config: Pick<Config, "publicUrl">, request: FastifyRequest): void {
  const { origin, host = "", "sec-fetch-site": site } = request.headers;
  const isOwnSite = site === undefined || site === "same-origin" || (site === "none" && isReading(request));
  const isOwnOrigin = origin === undefined ? isReading(request) : isOwn(config, origin, host);
  if (!isOwnSite || !isOwnOrigin) {
    throw new AppError("FORBIDDEN", "The dashboard accepts requests only from its own pages.", {
      suggestion: "Open the dashboard at the service's public URL (UPSTOW_PUBLIC_URL).",
    });
  }
}

function isReading(request: FastifyRequest): boolean {
  return reading.has(request.method);
}

function isOwn(config: Pick<Config, "publicUrl">, origin: string, host: string): boolean {
  if (origin === new URL(config.publicUrl).origin) return true;
  const isLoopback = isLoopbackHost(host.replace(/:\d+$/, ""));
  return isLoopback && (origin === `http://${host}` || origin === `https://${host}`);
}
