import { insertEvents } from "../contenders/many-events.ts";
import { startPostgresServer } from "../contenders/postgres.ts";
import { call } from "../contenders/stored-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../contenders/webhook-receiver.ts";
import { formatBelow, formatNumber } from "../harness/format.ts";
import { readCpuSec } from "../harness/process-usage.ts";
import type { Benchmark, BenchmarkContext } from "../harness/report.ts";
import { type Spread, spreadOf } from "../harness/statistics.ts";
import { measureOthers } from "./events-beside-slow.ts";

const eventCount = 2_000;
const endpoints = 16;
const targetP99Ms = 1_000;

interface Drain {
  eventsPerSec: number;
  cpuUsPerEvent: number;
}

/** Makes all events of a route wait at once, and follows them to the receiver. */
async function drain(upstow: Upstow, receiver: WebhookReceiver, routeSlug: string): Promise<Drain> {
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

async function measure(
  { folder, rounds }: BenchmarkContext,
  receiver: WebhookReceiver,
  databaseUrl?: string,
) {
  const options = { folder, env: receiver.env, ...(databaseUrl === undefined ? {} : { databaseUrl }) };
  const upstow = await startUpstow(options);
  const urlsOf = (slug: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${receiver.url}/${slug}/${i}`);
  const routes = { one: urlsOf("one", 1), many: urlsOf("many", endpoints) };
  for (const [routeSlug, urls] of Object.entries(routes)) {
    await insertEvents(upstow, databaseUrl, { routeSlug, urls, count: eventCount, isDelivered: true });
  }
  // The first time through warms the server up.
  for (const routeSlug of Object.keys(routes)) await drain(upstow, receiver, routeSlug);
  const one: Drain[] = [];
  const many: Drain[] = [];
  for (let round = 0; round < rounds; round++) {
    one.push(await drain(upstow, receiver, "one"));
    many.push(await drain(upstow, receiver, "many"));
  }
  const others = await measureOthers(upstow, receiver, databaseUrl, rounds);
  await upstow.stop();
  return { one, many, others };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function rateRow(label: string, drains: Drain[]): string[] {
  const rate = spreadOf(drains.map(({ eventsPerSec }) => eventsPerSec));
  const cost = spreadOf(drains.map(({ cpuUsPerEvent }) => cpuUsPerEvent));
  return [label, formatNumber(rate.median), range(rate), formatNumber(cost.median)];
}

function latencyRow(label: string, { others }: Measured): string[] {
  const p50 = spreadOf(others.map(({ p50Ms }) => p50Ms));
  const p99 = spreadOf(others.map(({ p99Ms }) => p99Ms));
  return [
    label,
    formatNumber(p50.median),
    formatNumber(p99.median),
    range(p99),
    formatBelow(targetP99Ms, p99.median, "ms"),
  ];
}

const range = ({ least, most }: Spread) => `${formatNumber(least)}–${formatNumber(most)}`;

export const events: Benchmark = {
  title: "Webhooks: events to a fast receiver, and beside an endpoint that takes 3 s",
  async run(context) {
    const receiver = await startWebhookReceiver(context.folder);
    const embedded = await measure(context, receiver);
    const database = await startPostgresServer();
    const onPostgres = await measure(context, receiver, database.url);
    await database.stop();
    receiver.stop();
    const both = Object.entries({ "embedded database": embedded, PostgreSQL: onPostgres });
    return {
      tables: [
        {
          caption: `${eventCount.toLocaleString("en-US")} events made to wait at once, from the first that arrives to the last`,
          columns: ["", "events/s", "spread", "CPU µs/event"],
          rows: both.flatMap(([label, { one, many }]) => [
            rateRow(`${label}, one endpoint`, one),
            rateRow(`${label}, ${endpoints} endpoints`, many),
          ]),
        },
        {
          caption:
            "200 uploads to 10 fast endpoints, behind 2,000 messages to one that takes 3 s: from the completion's answer to the arrival",
          columns: ["", "p50 ms", "p99 ms", "spread of p99", "target"],
          rows: both.map(([label, measured]) => latencyRow(label, measured)),
        },
      ],
      notes: [
        "Each delivery has a connection and a TLS handshake of its own; the receiver runs on the same cores.",
        "At most 8 messages are under way to one endpoint, and 32 of one project.",
      ],
      data: { embedded, onPostgres },
    };
  },
};
