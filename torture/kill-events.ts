import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../packages/server/src/db/database.ts";
import { statement } from "../packages/server/src/db/statement.ts";
import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { createCertificate } from "../packages/server/test/support/webhooks/certificate.ts";
import {
  type Received,
  type Receiver,
  startReceiver,
} from "../packages/server/test/support/webhooks/receiver.ts";
import { onBothDatabases } from "./both-databases.ts";
import { createInstallation, type Installation, type Server } from "./installation.ts";
import type { Random } from "./random.ts";
import { listUploaded } from "./recount.ts";
import { type Outcome, type RunOptions, runClients, Violation, waitForMoment } from "./scenario.ts";

const clients = 6;
const uploadsPerClient = 8;
const mostViolations = 20;
const patienceMs = 60_000;

const expireLeases = statement((q, _: object) =>
  q.updateTable("webhook_message").set({ lease_until: 1 }).where(sql<boolean>`state = 'leased'`),
);
const listUndelivered = statement((q, _: object) =>
  q
    .selectFrom("webhook_message")
    .select(["id", "state", "retried", "interruptions"])
    .where("state", "<>", "delivered"),
);
const listInterruptions = statement((q, _: object) =>
  q
    .selectFrom("webhook_attempt")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("error", "=", "interrupted")
    .groupBy("message_id"),
);

/** Kills the server around completions and deliveries; every completed file's event has to arrive. */
export const killEvents = onBothDatabases("kills", killEventsOn);

async function killEventsOn(
  { rounds, random, isTimeUp, onRound }: RunOptions,
  database: DatabaseKind,
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "upstow-torture-receiver-"));
  const certificate = await createCertificate();
  await writeFile(join(folder, "authority.pem"), certificate.cert);
  const receiver = await startReceiver(certificate);
  answerLikeARealEndpoint(receiver, random);
  const env = {
    UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    UPSTOW_WEBHOOK_RETRY_BASE_MS: "20",
    NODE_EXTRA_CA_CERTS: join(folder, "authority.pem"),
  };
  const installation = await createInstallation(env, undefined, database);
  const run = createRun(installation, receiver, random);
  try {
    await run.createRoute();
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      if (run.violations.length >= mostViolations) break;
      await run.killDuringDelivery();
      onRound(round, run.count());
    }
    await run.deliverAll();
    return { counts: run.count(), violations: run.violations };
  } finally {
    await installation.remove();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Takes its time, and now and then fails a first attempt. */
function answerLikeARealEndpoint(receiver: Receiver, random: Random): void {
  receiver.answer = async ({ headers }, response) => {
    await wait(random.int(0, 25));
    if (headers["delivery-attempt"] === "1" && random.chance(0.1)) response.statusCode = 503;
    response.end();
  };
}

function createRun(installation: Installation, receiver: Receiver, random: Random) {
  const { call, key, projectId, withDatabase } = installation;
  const violations: string[] = [];
  const completed = new Set<string>();
  let uploaded = new Set<string>();
  let interruptions: number[] = [];

  async function createRoute(): Promise<void> {
    const server = await installation.start();
    const body = { slug: "hooked", webhookUrl: `${receiver.url}/hook` };
    const created = await call("POST", `projects/${projectId}/routers`, { key, body });
    if (created.status !== 201) throw new Error(`no route: ${JSON.stringify(created.body)}`);
    await server.stop();
  }

  async function uploadOne(): Promise<void> {
    const wanted = { fileName: "a.txt", fileSize: 5, contentType: "text/plain", routeSlug: "hooked" };
    const requested = await call("POST", "upload/request", { key, body: wanted });
    const { uploadUrl, fileId } = requested.body;
    const headers = { "content-type": "text/plain" };
    const put = await fetch(uploadUrl, { method: "PUT", headers, body: "hello" });
    await put.text();
    // Some are given up here: for them there must be no event.
    if (random.chance(0.05)) return;
    const answer = await call("POST", "upload/complete", { key, body: { fileId } });
    if (answer.status !== 200)
      throw new Violation(`a completion was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    completed.add(fileId);
  }

  const actAsClient = (server: Server) => async () => {
    for (let i = 0; i < uploadsPerClient && !server.isKilled(); i++) await uploadOne();
  };

  async function killDuringDelivery(): Promise<void> {
    // What the minute that a lease lasts does, so that the next start finds it abandoned.
    await withDatabase((db) => db.run(expireLeases, {}));
    const server = await installation.start();
    const working = runClients(
      server,
      Array.from({ length: clients }, () => actAsClient(server)),
      violations,
    );
    await waitForMoment(random, () => completed.size * 2 + receiver.received.length);
    await server.kill();
    await working;
  }

  async function deliverAll(): Promise<void> {
    await withDatabase((db) => db.run(expireLeases, {}));
    const server = await installation.start();
    await withDatabase(waitUntilDelivered).catch((error) => void violations.push(error.message));
    await server.stop();
    uploaded = await listUploaded(installation);
    interruptions = (await withDatabase((db) => db.all(listInterruptions, {}))).map(({ count }) => count);
    violations.push(...judge(uploaded, completed, receiver.received));
  }

  const count = () => ({
    "completions acknowledged": completed.size,
    "files completed": uploaded.size,
    "events received": receiver.received.length,
    "received more than once": countRepeated(receiver.received),
    "interrupted while being sent": interruptions.length,
    "interrupted five times or more": interruptions.filter((count) => count >= 5).length,
  });

  return { violations, createRoute, killDuringDelivery, deliverAll, count };
}

/** Beside the running server, as the operator's commands do it. */
async function waitUntilDelivered(db: Database): Promise<void> {
  const deadlineMs = Date.now() + patienceMs;
  for (;;) {
    const open = await db.all(listUndelivered, {});
    if (open.length === 0) return;
    if (Date.now() > deadlineMs) throw new Error(`events are not delivered: ${JSON.stringify(open)}`);
    await wait(100);
  }
}

const fileIdOf = ({ body }: Received): string => JSON.parse(body.toString()).file.id;

function countRepeated(received: Received[]): number {
  return [...Map.groupBy(received, fileIdOf).values()].filter((requests) => requests.length > 1).length;
}

function judge(uploaded: Set<string>, completed: Set<string>, received: Received[]): string[] {
  const byFile = Map.groupBy(received, fileIdOf);
  const idsOf = (requests: Received[]) => new Set(requests.map(({ headers }) => headers["webhook-id"]));
  const byMessage = Map.groupBy(received, ({ headers }) => headers["webhook-id"]);
  return [
    ...[...completed].filter((id) => !uploaded.has(id)).map((id) => `the completion of ${id} is lost`),
    ...[...uploaded].filter((id) => !byFile.has(id)).map((id) => `the event of ${id} is lost`),
    ...[...byFile.keys()]
      .filter((id) => !uploaded.has(id))
      .map((id) => `${id} has an event, but is not completed`),
    ...[...byFile].filter(([, all]) => idsOf(all).size !== 1).map(([id]) => `the event of ${id} has two ids`),
    ...[...byMessage]
      .filter(([, all]) => new Set(all.map(fileIdOf)).size !== 1)
      .map(([id]) => `the id ${id} stands for several files`),
  ];
}
