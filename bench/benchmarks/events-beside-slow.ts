import { insertEvents } from "../contenders/many-events.ts";
import { call } from "../contenders/stored-files.ts";
import type { Upstow } from "../contenders/upstow.ts";
import type { WebhookReceiver } from "../contenders/webhook-receiver.ts";

const slowCount = 2_000;
const slowAtOnce = 8;
const fastCount = 200;
const fastEndpoints = 10;
const clients = 10;

export interface Latency {
  p50Ms: number;
  p99Ms: number;
}

/** How long events wait for fast endpoints while a slow one has far more messages than it can take. */
export async function measureOthers(
  upstow: Upstow,
  receiver: WebhookReceiver,
  databaseUrl: string | undefined,
  rounds: number,
): Promise<Latency[]> {
  for (let i = 0; i < fastEndpoints; i++) {
    const route = { slug: `fast-${i}`, webhookUrl: `${receiver.url}/fast/${i}` };
    await call(upstow, `/api/v1/projects/${upstow.projectId}/routers`, route);
  }
  receiver.forget();
  const slow = { routeSlug: "slow", urls: [`${receiver.url}/slow`], count: slowCount };
  await insertEvents(upstow, databaseUrl, slow);
  await receiver.waitFor("/slow", slowAtOnce);
  const latencies: Latency[] = [];
  for (let round = 0; round < rounds; round++) latencies.push(await measureOnce(upstow, receiver));
  return latencies;
}

async function measureOnce(upstow: Upstow, receiver: WebhookReceiver): Promise<Latency> {
  receiver.forget();
  const answeredAt = new Map<string, number>();
  let next = 0;
  const upload = async () => {
    for (let i = next++; i < fastCount; i = next++) {
      const fileId = await uploadTo(upstow, `fast-${i % fastEndpoints}`);
      answeredAt.set(fileId, performance.timeOrigin + performance.now());
    }
  };
  await Promise.all(Array.from({ length: clients }, upload));
  const arrivals = await receiver.waitFor("/fast", fastCount);
  // An event may arrive before the client has read its answer.
  const waits = arrivals.map(({ fileId, at }) => Math.max(0, at - (answeredAt.get(fileId) ?? Number.NaN)));
  waits.sort((a, b) => a - b);
  const at = (share: number) => waits[Math.ceil(share * waits.length) - 1] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

export async function uploadTo(upstow: Upstow, routeSlug: string): Promise<string> {
  const contentType = "text/plain";
  const { fileId, uploadUrl } = await call<{ fileId: string; uploadUrl: string }>(
    upstow,
    "/api/v1/upload/request",
    { fileName: "a.txt", fileSize: 5, contentType, routeSlug },
  );
  const put = await fetch(uploadUrl, {
    method: "PUT",
    headers: { "content-type": contentType },
    body: "hello",
  });
  if (!put.ok) throw new Error(`PUT: ${put.status} ${await put.text()}`);
  await put.arrayBuffer();
  await call(upstow, "/api/v1/upload/complete", { fileId });
  return fileId;
}
