import type { DeliveryDetail, EventPayload } from "@upstow/contract";
import type { FileRouteRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { invalid } from "../kernel/errors.ts";
import { createId, randomText } from "../kernel/ids.ts";
import { record } from "../projects/audit/record.ts";
import { getRoute } from "../projects/file-routes/file-routes.ts";
import { requireServes } from "../projects/file-routes/find-route.ts";
import { cdnFor, fileUrl } from "../projects/file-url.ts";
import type { Claim } from "./claim.ts";
import { getDelivery } from "./deliveries.ts";
import { describeEvent, endpointIdOf, insertEvents } from "./enqueue.ts";
import { countLease, insertAttempts, leaseMessages } from "./queue-queries.ts";

/**
 * Sends a sample event to the route's webhook, once and immediately, in the same way as a real one; the response shows
 * the outcome. It is leased in the transaction that writes it, so no dispatcher sends it too.
 */
export async function sendTestEvent(deps: Deps, actor: Actor, routeId: string): Promise<DeliveryDetail> {
  const route = await getRoute(deps, actor, routeId);
  requireServes(route, actor.environment);
  if (route.webhook_url === null) throw invalid("webhookUrl", "is not set on this file route");
  const claim = await leaseTestEvent(deps, actor, route, route.webhook_url);
  deps.dispatcher.nudge();
  await deps.dispatcher.deliver(claim);
  return getDelivery(deps, actor, claim.id);
}

async function leaseTestEvent(deps: Deps, actor: Actor, route: FileRouteRow, url: string): Promise<Claim> {
  const { projectId, environment } = actor;
  const now = deps.now();
  const event = describeEvent(now, projectId, environment, samplePayload(deps, actor, route.slug, now));
  const endpointId = endpointIdOf(projectId, environment, url);
  const token = randomText(20);
  const ids = JSON.stringify([event.id]);
  await deps.db.transact(async (tx) => {
    await insertEvents(tx, [
      {
        ...event,
        event: "test",
        route_slug: route.slug,
        url,
        endpoint_id: endpointId,
        state: "ready",
        retries_allowed: 0,
      },
    ]);
    await tx.run(countLease, { id: endpointId });
    await tx.run(leaseMessages, { ids, token, leaseMs: deps.dispatcher.leaseMs });
    await tx.run(insertAttempts, { ids });
    await record(tx, now, deps.author, {
      action: "webhook.tested",
      target: { kind: "route", id: route.id, label: route.slug },
      projectId,
    });
  });
  return {
    id: event.id,
    token,
    projectId,
    environment,
    event: "test",
    routeSlug: route.slug,
    body: event.body,
    url,
    endpointId,
    attempt: 1,
    retried: 0,
    retriesAllowed: 0,
  };
}

function samplePayload(deps: Deps, actor: Actor, slug: string, now: number): EventPayload {
  const { projectId } = actor;
  const name = "test-event.txt";
  const key = `${projectId}/${slug}/${randomText(16)}/${name}`;
  return {
    file: {
      id: createId(now),
      key,
      name,
      size: 12,
      type: "text/plain",
      url: fileUrl(cdnFor(deps.config, actor), key),
      metadata: {},
    },
    projectId,
  };
}
