import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { insertEvents } from "../contenders/many-events.ts";
import { startPostgresServer } from "../contenders/postgres.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../contenders/webhook-receiver.ts";
import { formatBelow, formatNumber, formatShare } from "../harness/format.ts";
import type { Benchmark, BenchmarkContext } from "../harness/report.ts";
import { type Spread, spreadOf } from "../harness/statistics.ts";
import { type Drain, drain } from "./drain-events.ts";
import { measureOthers } from "./events-beside-slow.ts";

const eventCount = 2_000;
const endpoints = 16;
const targetP99Ms = 1_000;
/** What the service sends at most at once: to one endpoint, and of one project. */
const atOnce = { one: 8, many: 32 };

/** The same number of POSTs from a program that does nothing else. */
async function sendBare(receiver: WebhookReceiver, requestsAtOnce: number): Promise<Drain> {
  const program = fileURLToPath(new URL("../contenders/bare-sender.ts", import.meta.url));
  const args = [program, `${receiver.url}/bare`, String(eventCount), String(requestsAtOnce)];
  const env = { ...process.env, ...receiver.env };
  return JSON.parse((await promisify(execFile)(process.execPath, args, { env })).stdout);
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
  for (const routeSlug of Object.keys(routes)) await drain(upstow, receiver, routeSlug, eventCount);
  const one: Drain[] = [];
  const many: Drain[] = [];
  const bareOne: Drain[] = [];
  const bareMany: Drain[] = [];
  for (let round = 0; round < rounds; round++) {
    bareOne.push(await sendBare(receiver, atOnce.one));
    one.push(await drain(upstow, receiver, "one", eventCount));
    bareMany.push(await sendBare(receiver, atOnce.many));
    many.push(await drain(upstow, receiver, "many", eventCount));
  }
  const others = await measureOthers(upstow, receiver, databaseUrl, rounds);
  await upstow.stop();
  return { one, many, bareOne, bareMany, others };
}

type Measured = Awaited<ReturnType<typeof measure>>;

function rateRow(label: string, drains: Drain[], bare: Drain[] | null): string[] {
  const rate = spreadOf(drains.map(({ eventsPerSec }) => eventsPerSec));
  const cost = spreadOf(drains.map(({ cpuUsPerEvent }) => cpuUsPerEvent));
  const beside = (part: (drain: Drain) => number) =>
    bare === null ? "" : formatShare(spreadOf(drains.map((one, i) => part(one) / part(bare[i] ?? one))));
  return [
    label,
    formatNumber(rate.median),
    range(rate),
    formatNumber(cost.median),
    beside(({ eventsPerSec }) => eventsPerSec),
    beside(({ cpuUsPerEvent }) => 1 / cpuUsPerEvent),
  ];
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
  title: "Webhooks: events to a fast receiver, and with another endpoint that takes 3 s",
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
          caption: `${eventCount.toLocaleString("en-US")} events queued at once, from the first arrival to the last`,
          columns: ["", "events/s", "spread", "CPU µs/event", "rate beside bare", "per CPU beside bare"],
          rows: [
            rateRow(`bare node:https, ${atOnce.one} at once`, embedded.bareOne, null),
            rateRow(`bare node:https, ${atOnce.many} at once`, embedded.bareMany, null),
            ...both.flatMap(([label, { one, many, bareOne, bareMany }]) => [
              rateRow(`${label}, one endpoint`, one, bareOne),
              rateRow(`${label}, ${endpoints} endpoints`, many, bareMany),
            ]),
          ],
        },
        {
          caption:
            "200 uploads to 10 fast endpoints, behind 2,000 messages to one that takes 3 s: from the completion's answer to the arrival",
          columns: ["", "p50 ms", "p99 ms", "spread of p99", "target"],
          rows: both.map(([label, measured]) => latencyRow(label, measured)),
        },
      ],
      notes: [
        "Each delivery has its own connection and TLS handshake; the receiver runs on the same cores.",
        `At most ${atOnce.one} messages per endpoint, and ${atOnce.many} per project, are sent at a time. The bare sender has no queue, signatures or records.`,
      ],
      data: { embedded, onPostgres },
    };
  },
};
