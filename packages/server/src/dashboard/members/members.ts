import type { Queryable } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../kernel/errors.ts";
import { record } from "../../projects/audit/record.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import type { Role } from "../access.ts";
import {
  deleteInvitationsBy,
  deleteMember,
  findMember,
  findProjectOwner,
  listMembers,
  setMemberRole,
} from "./queries.ts";

export interface Member {
  accountId: string;
  email: string;
  /** False if the only proof of the email address is a used invite link. */
  emailVerified: boolean;
  role: Role;
  /** The project counts toward this account's limits, so it cannot be removed. */
  paysForProject: boolean;
  since: string;
}

export async function getMembers(deps: Pick<Deps, "db">, projectId: string): Promise<Member[]> {
  const owner = await deps.db.get(findProjectOwner, { projectId });
  if (owner === null) throw notFound("Project");
  const rows = await deps.db.all(listMembers, { projectId });
  const first = { ...owner, role: "owner" as const };
  return [first, ...rows].map((row) => ({
    accountId: row.accountId,
    email: row.email,
    emailVerified: row.emailVerified === 1,
    role: row.role,
    paysForProject: row === first,
    since: new Date(row.createdAt).toISOString(),
  }));
}

export async function changeRole(
  deps: Pick<Deps, "db" | "now" | "author">,
  member: { projectId: string; accountId: string },
  role: Role,
): Promise<void> {
  const now = deps.now();
  await deps.db.transact(async (tx) => {
    const before = await tx.get(findMember, member);
    if (before === null || (await tx.run(setMemberRole, { ...member, role })) === 0) throw notFound("Member");
    if (role !== "owner") await tx.run(deleteInvitationsBy, member);
    await logChange(tx, now, member.projectId, "member.updated", `A member's role was changed to ${role}.`);
    await record(tx, now, deps.author, {
      action: "member.updated",
      target: { kind: "member", id: member.accountId, label: before.email },
      projectId: member.projectId,
      before,
      after: { role },
    });
  });
}

/** Takes effect on their next request. Links they created are revoked too, or one could let them back in. */
export async function removeMember(
  deps: Pick<Deps, "db" | "now" | "author">,
  member: { projectId: string; accountId: string },
): Promise<void> {
  const now = deps.now();
  await deps.db.transact(async (tx) => {
    const before = await tx.get(findMember, member);
    if (before === null || (await tx.run(deleteMember, member)) === 0) throw notFound("Member");
    await tx.run(deleteInvitationsBy, member);
    await logChange(tx, now, member.projectId, "member.removed", "A member left or was removed.");
    await record(tx, now, deps.author, {
      action: "member.removed",
      target: { kind: "member", id: member.accountId, label: before.email },
      projectId: member.projectId,
      before,
    });
  });
}

function logChange(
  tx: Queryable,
  now: number,
  projectId: string,
  type: "member.updated" | "member.removed",
  message: string,
): Promise<unknown> {
  return writeLog(tx, now, { projectId, environment: "live", type, message });
}
