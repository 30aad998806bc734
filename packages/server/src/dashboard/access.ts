import type { Environment } from "@upstow/contract";
import type { ProjectRole } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { AppError, notFound } from "../kernel/errors.ts";
import { findAccess } from "./queries.ts";
import type { Session } from "./sessions.ts";

export type Role = ProjectRole;
const ranks: Record<Role, number> = { viewer: 0, developer: 1, owner: 2 };

/**
 * The actor that represents a signed-in person in a project. A project they are not a member of is not found, as if it
 * did not exist.
 */
export async function enterProject(
  deps: Pick<Deps, "db">,
  session: Session,
  target: { projectId: string; environment: Environment },
  needed: Role,
): Promise<Actor> {
  const { projectId, environment } = target;
  const found = await deps.db.get(findAccess, { projectId, accountId: session.accountId });
  if (found === null) throw notFound("Project");
  const { memberRole, ...bound } = found;
  const role = roleOf(session, { accountId: found.accountId, memberRole });
  if (ranks[role] < ranks[needed]) {
    throw new AppError("FORBIDDEN", `A ${role} of this project can't do that.`, {
      suggestion: "Ask the project's owner.",
    });
  }
  return { ...bound, keyId: `session:${session.id}`, name: session.email, environment };
}

export function roleOf(session: Session, project: { accountId: string; memberRole: Role | null }): Role {
  return project.accountId === session.accountId ? "owner" : (project.memberRole ?? "viewer");
}
