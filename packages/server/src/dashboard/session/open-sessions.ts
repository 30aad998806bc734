import { randomBytes } from "node:crypto";
import { fastifyCookie } from "@fastify/cookie";
import { fastifySession } from "@fastify/session";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import type { Session as Person } from "../sessions.ts";
import {
  cookieAttributes,
  cookieName,
  createSessionSigner,
  findSessionCookie,
  finishCookies,
  isHttps,
} from "./session-cookie.ts";
import { createSessionStore } from "./session-store.ts";

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
