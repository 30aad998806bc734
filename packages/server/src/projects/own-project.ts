import type { Actor } from "../kernel/actor.ts";
import { unauthorized } from "../kernel/errors.ts";

/** A key is bound to one project: naming another one, existing or not, is the same refusal. */
export function requireOwnProject(actor: Actor, projectId: string): void {
  if (projectId === actor.projectId) return;
  throw unauthorized(
    "a key of another project",
    "The path names another project than that of the key. Send a key of the project; it gets its first one in the dashboard or by 'upstow key create'.",
  );
}
