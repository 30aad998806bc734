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
import { findSession, type Session as Person, signedOut } from "../sessions.ts";
import {
  cookieAttributes,
  cookieName,
  createSessionSigner,
  findSessionCookie,
  finishCookies,
  isHttps,
} from "./session-cookie.ts";

declare module "fastify" {
  /** Who is signed in; set behind `requireSession`. */
  interface Session extends Person {}
}

/** As long as a session may last at all; the server decides whether it still does. */
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
 * The library would give everyone a cookie, and take back one that it does not know. Somebody who just signed in anew
 * would lose theirs to the late answer of a request that left with the old one.
 */
function forgetStranger(request: { session: Partial<FastifyRequest["session"]> | null }): void {
  if (request.session?.accountId === undefined) request.session = null;
}

/**
 * The table of sessions as the library may use it: to read, on every request, so that a revocation holds at once on
 * every instance. A row begins in the transaction that lets somebody in and ends in one of ours as well, together with
 * what else changes then. Writes and removals of the library come too early or too late for that, and change nothing.
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

export function requireSession(app: FastifyInstance, deps: Pick<Deps, "limiter">): void {
  app.addHook("onRequest", async (request) => {
    const { session } = request;
    if (session.accountId === undefined) throw signedOut();
    // Counted per account: another session must not bring another window.
    const hit = await deps.limiter.hit(`${windowOf(request)}:${session.accountId}`, DASHBOARD_RATE_LIMIT);
    if (!hit.isAllowed) throw rateLimited(hit);
  });
}

/** Uploads have a window of their own: a folder of hundreds of files must not lock its owner out of every page. */
function windowOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.rateWindow === "upload" ? "dashboard-upload" : "dashboard";
}

const reading = new Set(["GET", "HEAD"]);

/**
 * A change is taken only from the dashboard's own pages. Browsers name the page's origin with every such request and
 * pages cannot forge it, so a request that names none did not come from a page of ours either.
 */
export function requireSameOrigin(config: Pick<Config, "publicUrl">, request: FastifyRequest): void {
  const { origin, host = "", "sec-fetch-site": site } = request.headers;
  const isOwnSite = site === undefined || site === "same-origin" || (site === "none" && isReading(request));
  const isOwnOrigin = origin === undefined ? isReading(request) : isOwn(config, origin, host);
  if (!isOwnSite || !isOwnOrigin) {
    throw new AppError("FORBIDDEN", "The dashboard takes requests from its own pages only.", {
      suggestion: "Open the dashboard at the service's public address (UPSTOW_PUBLIC_URL).",
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
