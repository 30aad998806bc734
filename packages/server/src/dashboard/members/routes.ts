import { IdParam, StringEnum, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import { enterProject, type Role } from "../access.ts";
import type { PasswordWork } from "../password-work.ts";
import { letIn, visitorOf } from "../session/visitor.ts";
import type { Session } from "../sessions.ts";
import { accept, invite, lookAtInvitation, signUp, withdrawInvitation } from "./invitations.ts";
import { changeRole, getMembers, removeMember } from "./members.ts";
import { listInvitations } from "./queries.ts";

const schema = { hide: true };
const role = StringEnum(["owner", "developer", "viewer"]);
const token = Type.String({ minLength: 1, maxLength: 200 });
const TokenBody = Type.Object({ token });
const SignUpBody = Type.Object({ token, password: Type.String({ minLength: 1, maxLength: 1000 }) });
const InviteBody = Type.Object({ email: Type.String({ minLength: 1, maxLength: 300 }), role });
const RoleBody = Type.Object({ role });
const MemberParams = Type.Object({ ...IdParam.properties, accountId: IdParam.properties.id });
const InvitationParams = Type.Object({ ...IdParam.properties, invitationId: IdParam.properties.id });

/** For the holder of a link, signed in or not. */
export function joinRoutes(app: ApiApp, deps: Deps, passwords: PasswordWork): void {
  app.post("/invitations/look", { schema: { ...schema, body: TokenBody } }, async (request) =>
    lookAtInvitation(deps, request.body.token, visitorOf(request)),
  );

  app.post("/invitations/sign-up", { schema: { ...schema, body: SignUpBody } }, async (request, reply) =>
    letIn(deps, request, reply, (visitor) => signUp(deps, passwords, request.body, visitor)),
  );
}

export function memberRoutes(app: ApiApp, deps: Deps): void {
  const enter = (session: Session, projectId: string, needed: Role) =>
    enterProject(deps, session, { projectId, environment: "live" }, needed);

  app.get(
    "/projects/:id/members",
    { schema: { ...schema, params: IdParam } },
    async ({ session, params }) => {
      await enter(session, params.id, "viewer");
      return { members: await getMembers(deps, params.id) };
    },
  );

  app.patch(
    "/projects/:id/members/:accountId",
    { schema: { ...schema, params: MemberParams, body: RoleBody } },
    async (request) => {
      const { session, params, body } = request;
      await enter(session, params.id, "owner");
      await changeRole(
        withAuthor(deps, request),
        { projectId: params.id, accountId: params.accountId },
        body.role,
      );
      return { ok: true };
    },
  );

  app.delete(
    "/projects/:id/members/:accountId",
    { schema: { ...schema, params: MemberParams } },
    async (request) => {
      const { session, params } = request;
      const isLeaving = params.accountId === session.accountId;
      await enter(session, params.id, isLeaving ? "viewer" : "owner");
      await removeMember(withAuthor(deps, request), { projectId: params.id, accountId: params.accountId });
      return { ok: true };
    },
  );
}

export function invitationRoutes(app: ApiApp, deps: Deps): void {
  const enterAsOwner = (session: Session, projectId: string) =>
    enterProject(deps, session, { projectId, environment: "live" }, "owner");

  app.post("/invitations/accept", { schema: { ...schema, body: TokenBody } }, async (request) => ({
    projectId: await accept(withAuthor(deps, request), request.session, request.body.token),
  }));

  app.get("/projects/:id/invitations", { schema: { ...schema, params: IdParam } }, async (request) => {
    const projectId = request.params.id;
    await enterAsOwner(request.session, projectId);
    const rows = await deps.db.all(listInvitations, { projectId, now: deps.now() });
    return {
      invitations: rows.map((row) => ({
        id: row.id,
        email: row.email,
        role: row.role,
        expiresAt: new Date(row.expires_at).toISOString(),
      })),
    };
  });

  app.post(
    "/projects/:id/invitations",
    { schema: { ...schema, params: IdParam, body: InviteBody } },
    async (request, reply) => {
      const { session, params, body } = request;
      await enterAsOwner(session, params.id);
      const wanted = { projectId: params.id, ...body };
      const { link, expiresAt } = await invite(withAuthor(deps, request), session, wanted);
      return reply.code(201).send({ link, expiresAt: new Date(expiresAt).toISOString() });
    },
  );

  app.delete(
    "/projects/:id/invitations/:invitationId",
    { schema: { ...schema, params: InvitationParams } },
    async (request) => {
      const { session, params } = request;
      await enterAsOwner(session, params.id);
      await withdrawInvitation(withAuthor(deps, request), { id: params.invitationId, projectId: params.id });
      return { ok: true };
    },
  );
}
