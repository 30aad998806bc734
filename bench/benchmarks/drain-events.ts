import { call } from "../contenders/stored-files.ts";
import type { Upstow } from "../contenders/upstow.ts";
import type { WebhookReceiver } from "../contenders/webhook-receiver.ts";
import { readCpuSec } from "../harness/process-usage.ts";

export interface Drain {
  eventsPerSec: number;
  cpuUsPerEvent: number;
}

/** Makes all events of a route wait at once, and follows them to the receiver. */
export async function drain(
  upstow: Upstow,
  receiver: WebhookReceiver,
  routeSlug: string,
  eventCount: number,
): Promise<Drain> {
  receiver.forget();
  const cpuBefore = readCpuSec(upstow.pid);
  await call(upstow, "/api/v1/webhooks/deliveries/redeliver", { filter: { routeSlug } });
  const arrivals = await receiver.waitFor(`/${routeSlug}`, eventCount);
  const times = arrivals.map(({ at }) => at);
  const elapsedSec = (Math.max(...times) - Math.min(...times)) / 1000;
  if (new Set(arrivals.map(({ fileId }) => fileId)).size !== eventCount)
    throw new Error("an event came twice");
  return {
    eventsPerSec: (eventCount - 1) / elapsedSec,
    cpuUsPerEvent: ((readCpuSec(upstow.pid) - cpuBefore) / eventCount) * 1e6,
  };
}
