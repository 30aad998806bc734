import { LIST_MAX } from "@upstow/contract";
import type { ProjectRole } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

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

export const deleteMember = statement((q, p: Member) =>
  q.deleteFrom("project_member").where("project_id", "=", p.projectId).where("account_id", "=", p.accountId),
);
