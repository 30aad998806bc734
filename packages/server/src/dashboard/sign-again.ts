import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { notFound } from "../kernel/errors.ts";
import { findDelivery } from "../webhooks/delivery-queries.ts";
import { messageIdOf } from "../webhooks/message-id.ts";
import { signDelivery, urlToSign } from "../webhooks/sign-delivery.ts";
import { getKeysToSignWith } from "../webhooks/signing-keys.ts";

export interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The delivery as it would be sent now, to be tried by hand: a receiver takes it for five minutes. */
export async function signAgain(deps: Deps, actor: Actor, id: string): Promise<SignedRequest> {
  const { projectId, environment } = actor;
  const delivery = await deps.db.get(findDelivery, { projectId, environment, id });
  if (delivery === null || delivery.url === null) throw notFound("Delivery");
  const { url, body, event } = delivery;
  const attempt = delivery.attempt_count + 1;
  const signed = signDelivery(
    {
      messageId: messageIdOf(id),
      attemptId: `att_${id}_${attempt}`,
      attempt,
      retried: 0,
      event,
      environment,
      routeSlug: delivery.route_slug,
      url: urlToSign(url),
      body: Buffer.from(body),
    },
    await getKeysToSignWith(deps, { projectId, environment }),
    deps.now(),
  );
  return { url, headers: { "content-type": "application/json", ...signed }, body };
}
