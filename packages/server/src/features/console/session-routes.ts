import { IdParam, Type } from "@upstow/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { clearSessionCookie, readSessionToken, setSessionCookie } from "../../http/console/session-cookie.ts";
import type { PasswordWork } from "./password-work.ts";
import { deleteSession, listSessions } from "./session-queries.ts";
import type { Visitor } from "./sessions.ts";
import { changeCredentials, claim, signIn } from "./sign-in.ts";

const schema = { hide: true };
const credentials = {
  email: Type.String({ minLength: 1, maxLength: 300 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
};
const ClaimBody = Type.Object({ ...credentials, token: Type.String({ minLength: 1, maxLength: 200 }) });
const SignInBody = Type.Object(credentials);
const AccountBody = Type.Object({ ...credentials, currentPassword: Type.String({ maxLength: 1000 }) });

/** How people get in: no session yet. */
export function signInRoutes(app: ApiApp, deps: Deps, passwords: PasswordWork): void {
  app.post("/claim", { schema: { ...schema, body: ClaimBody } }, async (request, reply) => {
    const token = await claim(deps, passwords, request.body, visitorOf(request));
    return letIn(request, reply, token);
  });

  app.post("/sign-in", { schema: { ...schema, body: SignInBody } }, async (request, reply) => {
    const token = await signIn(deps, passwords, request.body, visitorOf(request));
    return letIn(request, reply, token);
  });
}

export function accountRoutes(app: ApiApp, deps: Deps, passwords: PasswordWork): void {
  app.get("/session", { schema }, async ({ session }) => ({
    account: { id: session.accountId, email: session.email, tier: session.tier },
  }));

  app.post("/sign-out", { schema }, async (request, reply) => {
    const { id, accountId } = request.session;
    await deps.db.run(deleteSession, { id, accountId });
    clearSessionCookie(request, reply);
    return { ok: true };
  });

  app.put("/account", { schema: { ...schema, body: AccountBody } }, async (request, reply) => {
    const visitor = visitorOf(request);
    const token = await changeCredentials(deps, passwords, request.session, request.body, visitor);
    return letIn(request, reply, token);
  });

  app.get("/sessions", { schema }, async ({ session }) => {
    const rows = await deps.db.all(listSessions, { accountId: session.accountId, now: deps.now() });
    return {
      sessions: rows.map((row) => ({
        id: row.id,
        isCurrent: row.id === session.id,
        userAgent: row.user_agent,
        address: row.address,
        createdAt: new Date(row.created_at).toISOString(),
        lastSeenAt: new Date(row.last_seen_at).toISOString(),
      })),
    };
  });

  app.delete("/sessions/:id", { schema: { ...schema, params: IdParam } }, async ({ session, params }) => {
    const ended = await deps.db.run(deleteSession, { id: params.id, accountId: session.accountId });
    if (ended === 0) throw notFound("Session");
    return { ok: true };
  });
}

function visitorOf(request: FastifyRequest): Visitor {
  return {
    address: request.clientAddress,
    userAgent: request.headers["user-agent"] ?? "",
    oldToken: readSessionToken(request),
  };
}

function letIn(request: FastifyRequest, reply: FastifyReply, token: string): { ok: boolean } {
  setSessionCookie(request, reply, token);
  return { ok: true };
}
