import type { Environment } from "@upstow/contract";
import type { WebhookSigningKeyTable } from "../db/schema.ts";
import { statement } from "../db/statement.ts";

export const findSigningKeys = statement((q, p: { projectId: string; environment: Environment }) =>
  q
    .selectFrom("webhook_signing_key")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

/** Two first uses at once end with the same keys: those of the one that came first. */
export const insertSigningKeys = statement(
  (q, p: { projectId: string; environment: Environment; current: string; next: string }) =>
    q
      .insertInto("webhook_signing_key")
      .values({
        project_id: p.projectId,
        environment: p.environment,
        current_sealed: p.current,
        next_sealed: p.next,
        previous_sealed: null,
        rotated_at: null,
      })
      .onConflict((conflict) => conflict.columns(["project_id", "environment"]).doNothing()),
);

/** Guarded by the key that was read: of two rotations at once, one finds nothing to change. */
export const replaceSigningKeys = statement((q, p: WebhookSigningKeyTable & { seenCurrent: string }) =>
  q
    .updateTable("webhook_signing_key")
    .set({
      current_sealed: p.current_sealed,
      next_sealed: p.next_sealed,
      previous_sealed: p.previous_sealed,
      rotated_at: p.rotated_at,
    })
    .where("project_id", "=", p.project_id)
    .where("environment", "=", p.environment)
    .where("current_sealed", "=", p.seenCurrent),
);

export const listSigningKeys = statement((q, p: { environment: Environment; after: string; take: number }) =>
  q
    .selectFrom("webhook_signing_key")
    .selectAll()
    .where("environment", "=", p.environment)
    .where("project_id", ">", p.after)
    .orderBy("project_id")
    .limit(p.take),
);
