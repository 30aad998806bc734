import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";

const batchSize = 500;

/** Endpoints carry no project: their messages say which are the project's. */
const deleteEndpoints = statement((q, p: { projectId: string }) =>
  q.deleteFrom("webhook_endpoint").where(
    "id",
    "in",
    q
      .selectFrom("webhook_message")
      .select((e) => e.ref("endpoint_id").$castTo<string>().as("id"))
      .where("project_id", "=", p.projectId)
      .where("endpoint_id", "is not", null),
  ),
);

/** Attempts go with their message. */
const deleteMessages = statement((q, p: { projectId: string; take: number }) =>
  q
    .deleteFrom("webhook_message")
    .where(
      "id",
      "in",
      q.selectFrom("webhook_message").select("id").where("project_id", "=", p.projectId).limit(p.take),
    ),
);

const deleteSigningKeys = statement((q, p: { projectId: string }) =>
  q.deleteFrom("webhook_signing_key").where("project_id", "=", p.projectId),
);

const deleteSequences = statement((q, p: { projectId: string }) =>
  q.deleteFrom("event_sequence").where("project_id", "=", p.projectId),
);

/** Everything of a project's events, whatever still waits to be sent included. In batches, to hold nobody up. */
export async function forgetProject(db: Database, projectId: string): Promise<void> {
  await db.run(deleteEndpoints, { projectId });
  while ((await db.run(deleteMessages, { projectId, take: batchSize })) === batchSize);
  await db.run(deleteSigningKeys, { projectId });
  await db.run(deleteSequences, { projectId });
}
