import { AppError, notFound } from "../../errors.ts";
import type { Actor } from "../api-keys/actor.ts";

/** A key that a member of one project made shows nothing of the account's other projects. */
export function requireInReach(actor: Actor, projectId: string): void {
  if (actor.reach === "project" && projectId !== actor.projectId) throw notFound("Project");
}

/** Members make, rename and delete no projects, and so their keys do not either. */
export function requireAccountReach({ reach }: Actor): void {
  if (reach === "account") return;
  throw new AppError("FORBIDDEN", "This key was made by a member of the project and reaches no further.", {
    suggestion: "Use a key that the project's account has made.",
  });
}
