import { LIST_MAX, OPEN_INVITATIONS_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import type { InvitationRow, ProjectRole } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

export const insertInvitation = statement((q, p: InvitationRow) =>
  q.insertInto("invitation").values({
    id: p.id,
    token_hash: p.token_hash,
    project_id: p.project_id,
    email: p.email,
    role: p.role,
    invited_by: p.invited_by,
    created_at: p.created_at,
    expires_at: p.expires_at,
  }),
);

/** Changes nothing, but serialises the creation of invitations to a project, so that they can be counted. */
export const holdProject = statement((q, p: { projectId: string }) =>
  q
    .updateTable("project")
    .set({ updated_at: sql`updated_at` })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null),
);

// bounded: OPEN_INVITATIONS_MAX
export const countOpenInvitations = statement((q, p: { projectId: string; accountId: string; now: number }) =>
  q.selectNoFrom([
    sql<number>`(select count(*) from invitation
      where project_id = ${p.projectId} and expires_at > ${p.now})`.as("project"),
    sql<number>`(select count(*) from invitation
      where invited_by = ${p.accountId} and expires_at > ${p.now})`.as("account"),
  ]),
);

export const listInvitations = statement((q, p: { projectId: string; now: number }) =>
  q
    .selectFrom("invitation")
    .select(["id", "email", "role", "created_at", "expires_at"])
    .where("project_id", "=", p.projectId)
    .where("expires_at", ">", p.now)
    .orderBy("id", "desc")
    .limit(OPEN_INVITATIONS_MAX.project),
);

export const findInvitation = statement((q, p: { tokenHash: string; now: number }) =>
  q
    .selectFrom("invitation")
    .innerJoin("project", "project.id", "invitation.project_id")
    .select(["invitation.email as email", "invitation.role as role", "project.name as projectName"])
    .where("invitation.token_hash", "=", p.tokenHash)
    .where("invitation.expires_at", ">", p.now)
    .where("project.deleted_at", "is", null),
);

/** Deletes the row on use, so that only one of two people with the same link joins. */
export const takeInvitation = statement((q, p: { tokenHash: string; now: number }) =>
  q
    .deleteFrom("invitation")
    .where("token_hash", "=", p.tokenHash)
    .where("expires_at", ">", p.now)
    .returning(["project_id as projectId", "email", "role"]),
);

export const deleteInvitation = statement((q, p: { id: string; projectId: string }) =>
  q
    .deleteFrom("invitation")
    .where("id", "=", p.id)
    .where("project_id", "=", p.projectId)
    .returning(["email", "role"]),
);

export const deleteInvitationsTo = statement((q, p: { projectId: string; email: string }) =>
  q.deleteFrom("invitation").where("project_id", "=", p.projectId).where("email", "=", p.email),
);

export const deleteInvitationsBy = statement((q, p: { projectId: string; accountId: string }) =>
  q.deleteFrom("invitation").where("project_id", "=", p.projectId).where("invited_by", "=", p.accountId),
);

export const deleteEndedInvitations = statement((q, p: { now: number }) =>
  q.deleteFrom("invitation").where("expires_at", "<=", p.now),
);

interface Member {
  projectId: string;
  accountId: string;
}

export const findProjectOwner = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .innerJoin("account", "account.id", "project.account_id")
    .select([
      "account.id as accountId",
      "account.email as email",
      "account.email_verified as emailVerified",
      "project.created_at as createdAt",
    ])
    .where("project.id", "=", p.projectId)
    .where("project.deleted_at", "is", null),
);

export const listMembers = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project_member")
    .innerJoin("account", "account.id", "project_member.account_id")
    .select([
      "account.id as accountId",
      "account.email as email",
      "account.email_verified as emailVerified",
      "project_member.role as role",
      "project_member.created_at as createdAt",
    ])
    .where("project_member.project_id", "=", p.projectId)
    .orderBy("account.email")
    .limit(LIST_MAX),
);

export const putMember = statement((q, p: Member & { role: ProjectRole; now: number }) =>
  q
    .insertInto("project_member")
    .values({ project_id: p.projectId, account_id: p.accountId, role: p.role, created_at: p.now })
    .onConflict((conflict) => conflict.columns(["project_id", "account_id"]).doUpdateSet({ role: p.role })),
);

export const setMemberRole = statement((q, p: Member & { role: ProjectRole }) =>
  q
    .updateTable("project_member")
    .set({ role: p.role })
    .where("project_id", "=", p.projectId)
    .where("account_id", "=", p.accountId),
);

/** Locked on PostgreSQL, so that the role is the one that the change replaces. */
export const findMember = statement((q, p: Member, dialect) =>
  q
    .selectFrom("project_member")
    .innerJoin("account", "account.id", "project_member.account_id")
    .select(["account.email as email", "project_member.role as role"])
    .where("project_member.project_id", "=", p.projectId)
    .where("project_member.account_id", "=", p.accountId)
    .$if(dialect === "postgres", (select) => select.forUpdate("project_member")),
);

export const deleteMember = statement((q, p: Member) =>
  q.deleteFrom("project_member").where("project_id", "=", p.projectId).where("account_id", "=", p.accountId),
);
