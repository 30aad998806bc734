import { findEarlierVersion } from "../contenders/earlier-version.ts";
import { insertEvents } from "../contenders/many-events.ts";
import { createDatabase, startPostgresServer } from "../contenders/postgres.ts";
import { call } from "../contenders/stored-files.ts";
import { joinUpstow, startUpstow, type Upstow } from "../contenders/upstow.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../contenders/webhook-receiver.ts";
import { compare, toTable, type Unit } from "../harness/comparison.ts";
import { formatNumber } from "../harness/format.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";
import { spreadOf } from "../harness/statistics.ts";
import { drain } from "./drain-events.ts";

const clients = 32;
const sizeBytes = 10 * 1024;
const instanceCount = 3;
const eventCount = 1_000;
const uploads: Unit = { rate: "uploads/s", perOperation: 1, cost: "CPU µs/upload", costPerSec: 1e6 };

interface Row {
  label: string;
  contender: string;
  taking: Pick<Upstow, "port" | "pid">[];
  key?: string;
  routeSlug: string;
}

/** All uploads to one project change the same counters: what they wait for shows here. */
export const oneProject: Benchmark = {
  title: `Whole uploads of 10 KiB to one project on PostgreSQL, ${clients} clients`,
  async run({ folder, before, ...options }) {
    const receiver = await startWebhookReceiver(folder);
    const server = await startPostgresServer();
    const env = { UPSTOW_SECRET: "the secret that all instances of this benchmark share", ...receiver.env };
    const shared = { folder, databaseUrl: server.url, env };
    const first = await startUpstow(shared);
    const instances: Pick<Upstow, "port" | "pid" | "stop">[] = [first];
    while (instances.length < instanceCount) instances.push(await joinUpstow(shared));
    const root = before === null ? null : await findEarlierVersion(folder, before);
    if (before !== null && root === null) throw new Error(`git has no sources of ${before} here`);
    const earlier =
      root &&
      (await startUpstow({ ...shared, root, databaseUrl: await createDatabase(server.url, "before") }));
    for (const upstow of earlier === null ? [first] : [first, earlier]) {
      const route = { slug: "hooked", webhookUrl: `${receiver.url}/hooked` };
      await call(upstow, `/api/v1/projects/${upstow.projectId}/routers`, route);
    }
    const rows: Row[] = [
      { label: "one instance", contender: "one", taking: [first], routeSlug: "default" },
      { label: "one instance, with a webhook", contender: "hooked", taking: [first], routeSlug: "hooked" },
      { label: `${instanceCount} instances`, contender: "several", taking: instances, routeSlug: "default" },
    ];
    if (earlier !== null) {
      const label = `one instance, sources of ${before}`;
      const of = { key: earlier.key, taking: [earlier] };
      rows.push(
        { ...of, label, contender: "one before", routeSlug: "default" },
        { ...of, label: `${label}, with a webhook`, contender: "hooked before", routeSlug: "hooked" },
      );
    }
    const contenders = rows.map(
      ({ contender, key = first.key, taking, routeSlug }): Contender => ({
        name: contender,
        scenario: "upload-file",
        clients,
        target: {
          port: taking[0]?.port ?? 0,
          ports: taking.map(({ port }) => port),
          key,
          sizeBytes,
          routeSlug,
        },
        pids: { server: taking.map(({ pid }) => pid), database: server.pid },
      }),
    );
    const results = await runRounds(contenders, options);
    const figures = compare(
      results,
      rows.map(({ label, contender }) => ({ label, contender, against: "one" })),
      uploads,
    );
    const deliveries = await deliverAgain(first, server.url, receiver, options.rounds);
    await Promise.all([...instances, ...(earlier === null ? [] : [earlier])].map((upstow) => upstow.stop()));
    await server.stop();
    receiver.stop();
    const rates = spreadOf(deliveries);
    return {
      tables: [
        toTable("Request, PUT and complete, with fsync", figures, uploads, "one instance"),
        {
          caption: `${formatNumber(eventCount)} events of the project, all made to wait at once for one endpoint, sent by ${instanceCount} instances`,
          columns: ["", "deliveries/s", "spread"],
          rows: [
            [
              "PostgreSQL",
              formatNumber(rates.median),
              `${formatNumber(rates.least)}–${formatNumber(rates.most)}`,
            ],
          ],
        },
      ],
      notes: [],
      data: { figures, deliveries },
    };
  },
};

/** Deliveries per second, of each round. */
async function deliverAgain(
  upstow: Upstow,
  databaseUrl: string,
  receiver: WebhookReceiver,
  rounds: number,
): Promise<number[]> {
  const routeSlug = "again";
  const urls = [`${receiver.url}/${routeSlug}`];
  await insertEvents(upstow, databaseUrl, { routeSlug, urls, count: eventCount, isDelivered: true });
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++)
    rates.push((await drain(upstow, receiver, routeSlug, eventCount)).eventsPerSec);
  return rates;
}
