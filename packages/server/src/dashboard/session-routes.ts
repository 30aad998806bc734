import { IdParam, PASSKEYS_MAX, StringEnum, Type } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import { notFound } from "../kernel/errors.ts";
import { findInstallation, findInstallationOwner } from "../projects/accounts/queries.ts";
import { changeCredentials, claim, lookAtLink } from "./credentials.ts";
import type { PasswordWork } from "./password-work.ts";
import { listSessions } from "./queries.ts";
import { letIn, letOut, visitorOf } from "./session/visitor.ts";
import { endSession } from "./sessions.ts";
import { signIn, signInWithCode } from "./sign-in.ts";

const schema = { hide: true };
const token = Type.String({ minLength: 1, maxLength: 200 });
const credentials = {
  email: Type.String({ minLength: 1, maxLength: 300 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
};
const LinkBody = Type.Object({ token });
const ClaimBody = Type.Object({ ...credentials, token });
const SignInBody = Type.Object(credentials);
const CodeBody = Type.Object({ ticket: token, code: Type.String({ minLength: 1, maxLength: 100 }) });
const AccountBody = Type.Object({
  email: credentials.email,
  password: Type.Optional(credentials.password),
  currentPassword: Type.String({ maxLength: 1000 }),
  removePasskeys: Type.Optional(
    Type.Union([
      StringEnum(["all"]),
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: PASSKEYS_MAX }),
    ]),
  ),
});

/** Sign-in routes, without a session. */
export function signInRoutes(app: ApiApp, deps: Deps, passwords: PasswordWork): void {
  /** Whether the installation's owner can sign in: before the first sign-in link is opened, there is no password. */
  app.get("/claim", { schema }, async () => ({
    isClaimed: (await deps.db.get(findInstallationOwner, {}))?.password_hash != null,
  }));

  app.post("/claim/look", { schema: { ...schema, body: LinkBody } }, async (request) => ({
    email: await lookAtLink(deps, request.body.token, visitorOf(request)),
  }));

  app.post("/claim", { schema: { ...schema, body: ClaimBody } }, async (request, reply) =>
    letIn(deps, request, reply, (visitor) => claim(deps, passwords, request.body, visitor)),
  );

  app.post("/sign-in", { schema: { ...schema, body: SignInBody } }, async (request, reply) =>
    letIn(deps, request, reply, (visitor) => signIn(deps, passwords, request.body, visitor)),
  );

  app.post("/sign-in/code", { schema: { ...schema, body: CodeBody } }, async (request, reply) =>
    letIn(deps, request, reply, (visitor) => signInWithCode(deps, request.body, visitor)),
  );
}

export function accountRoutes(app: ApiApp, deps: Deps, passwords: PasswordWork): void {
  app.get("/session", { schema }, async ({ session }) => {
    const installation = await deps.db.get(findInstallation, {});
    return {
      account: {
        id: session.accountId,
        email: session.email,
        tier: session.tier,
        mayOwnProjects: session.mayOwnProjects,
        ownsInstallation: installation?.owner_account_id === session.accountId,
      },
    };
  });

  app.post("/sign-out", { schema }, async (request, reply) => {
    await endSession(withAuthor(deps, request), request.session);
    return letOut(request, reply);
  });

  app.put("/account", { schema: { ...schema, body: AccountBody } }, async (request, reply) =>
    letIn(deps, request, reply, (visitor) =>
      changeCredentials(withAuthor(deps, request), passwords, request.session, request.body, visitor),
    ),
  );

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

  app.delete("/sessions/:id", { schema: { ...schema, params: IdParam } }, async (request) => {
    const { accountId } = request.session;
    const isEnded = await endSession(withAuthor(deps, request), { id: request.params.id, accountId });
    if (!isEnded) throw notFound("Session");
    return { ok: true };
  });
}
