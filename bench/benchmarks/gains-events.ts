import { call } from "../contenders/stored-files.ts";
import type { Upstow } from "../contenders/upstow.ts";
import type { WebhookReceiver } from "../contenders/webhook-receiver.ts";
import { type Drain, drain } from "./drain-events.ts";
import { uploadTo } from "./events-beside-slow.ts";

const routeSlug = "drained";
const eventCount = 500;
const clients = 10;

/** Sends the same events again and again, by turns from each of the servers; a server's drains in the order given. */
export async function drainByTurns(
  servers: readonly Upstow[],
  receiver: WebhookReceiver,
  rounds: number,
): Promise<Drain[][]> {
  for (const server of servers) await makeEvents(server, receiver);
  const drains: Drain[][] = servers.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, server] of servers.entries()) {
      const drained = await drain(server, receiver, routeSlug, eventCount);
      // The first time through warms the server up.
      if (round > 0) drains[i]?.push(drained);
    }
  }
  return drains;
}

/** By uploads, as earlier versions know them too. */
async function makeEvents(upstow: Upstow, receiver: WebhookReceiver): Promise<void> {
  const route = { slug: routeSlug, webhookUrl: `${receiver.url}/${routeSlug}` };
  await call(upstow, `/api/v1/projects/${upstow.projectId}/routers`, route);
  receiver.forget();
  let made = 0;
  const upload = async () => {
    while (made++ < eventCount) await uploadTo(upstow, routeSlug);
  };
  await Promise.all(Array.from({ length: clients }, upload));
  await receiver.waitFor(`/${routeSlug}`, eventCount);
}
