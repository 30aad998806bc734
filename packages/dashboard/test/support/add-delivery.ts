import type { WebhookAttemptRow, WebhookState } from "../../../server/src/db/schema.ts";
import { statement } from "../../../server/src/db/statement.ts";
import { createId } from "../../../server/src/kernel/ids.ts";
import { describeEvent, insertEvents } from "../../../server/src/webhooks/enqueue.ts";
import type { Tenant, TestApp } from "../../../server/test/support/start-app.ts";

const insertAttempt = statement((q, p: WebhookAttemptRow) =>
  q.insertInto("webhook_attempt").values({
    message_id: p.message_id,
    number: p.number,
    started_at: p.started_at,
    duration_ms: p.duration_ms,
    status_code: p.status_code,
    error: p.error,
    response: p.response,
  }),
);
const countAttempts = statement((q, p: { id: string; count: number }) =>
  q.updateTable("webhook_message").set({ attempt_count: p.count }).where("id", "=", p.id),
);

interface GivenDelivery {
  state?: WebhookState;
  routeSlug?: string;
  url?: string;
  fileName?: string;
  attempts?: Pick<WebhookAttemptRow, "status_code" | "error" | "response">[];
}

/** A delivery with its history, without anybody who would have received it. */
export async function addDelivery(app: TestApp, tenant: Tenant, given: GivenDelivery = {}): Promise<string> {
  const { db, now } = app.app.deps;
  const { projectId } = tenant;
  const { state = "dead", routeSlug = "default", url = "https://example.com/hook", attempts = [] } = given;
  const name = given.fileName ?? "photo.jpg";
  const file = {
    id: createId(now()),
    key: `${projectId}/default/x/${name}`,
    name,
    size: 12,
    type: "image/jpeg",
  };
  const payload = { file: { ...file, url: "https://example.com/f/x", metadata: {} }, projectId };
  const event = describeEvent(now(), projectId, "live", payload);
  await db.transact(async (tx) => {
    const message = { route_slug: routeSlug, url, endpoint_id: null, state, retries_allowed: 0 };
    await insertEvents(tx, [{ ...event, event: "upload.completed", ...message }]);
    for (const [i, attempt] of attempts.entries()) {
      const facts = { message_id: event.id, number: i + 1, started_at: now(), duration_ms: 12 };
      await tx.run(insertAttempt, { ...facts, ...attempt });
    }
    await tx.run(countAttempts, { id: event.id, count: attempts.length });
  });
  return event.id;
}
