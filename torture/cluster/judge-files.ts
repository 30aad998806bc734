import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { statement } from "../../packages/server/src/db/statement.ts";
import { assertCountersMatch } from "../../packages/server/test/support/recount.ts";
import type { TestApp } from "../../packages/server/test/support/start-app.ts";
import type { Received } from "../../packages/server/test/support/webhooks/receiver.ts";
import type { Cluster } from "./cluster.ts";

/** An upload that a client heard the end of. */
export interface Done {
  id: string;
  url: string;
  sha256: string;
}

const listFiles = statement((q, p: { projectId: string }) =>
  q.selectFrom("file").select(["id", "status"]).where("project_id", "=", p.projectId),
);
const countOpenMessages = statement((q, _: object) =>
  q
    .selectFrom("webhook_message")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("state", "in", ["ready", "leased"]),
);

const patienceMs = 120_000;

/** Compares the responses to clients of the cluster's project with rows, counters, bytes and events. Returns what is wrong. */
export async function judgeFiles(
  cluster: Cluster,
  done: Done[],
  { hasEvents = true, deleted = 0, givenUp = new Set<string>() as ReadonlySet<string> } = {},
): Promise<string[]> {
  const rows = await cluster.db.all(listFiles, cluster);
  const uploaded = new Set(rows.filter(({ status }) => status === "UPLOADED").map(({ id }) => id));
  const wrong = done.filter(({ id }) => !uploaded.has(id)).map(({ id }) => `the upload ${id} is lost`);
  const known = new Set(done.map(({ id }) => id));
  for (const id of uploaded)
    if (!known.has(id) && !givenUp.has(id)) wrong.push(`the upload ${id} is one too many`);
  const store = { name: cluster.s3 === null ? "disk" : "s3" };
  const asApp = { app: { deps: { ...cluster, store } } } as unknown as TestApp;
  await assertCountersMatch(asApp, cluster.projectId, { live: uploaded.size + deleted, test: 0 }).catch(
    (error) => {
      wrong.push(`the counters differ from a recount: ${error.message}`);
    },
  );
  for (const file of done) {
    const answer = await fetch(file.url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200 || hash("sha256", bytes) !== file.sha256)
      wrong.push(`${file.id} is served with ${answer.status} and other bytes`);
  }
  if (hasEvents) wrong.push(...(await judgeEvents(cluster, uploaded)));
  return wrong;
}

async function judgeEvents({ db, receiver }: Cluster, uploaded: Set<string>): Promise<string[]> {
  const deadlineMs = Date.now() + patienceMs;
  for (;;) {
    const open = (await db.get(countOpenMessages, {}))?.count ?? 0;
    if (open === 0) break;
    if (Date.now() > deadlineMs) return [`${open} events are not delivered`];
    await wait(200);
  }
  const fileOf = ({ body }: Received): string => JSON.parse(body.toString()).file.id;
  const byFile = Map.groupBy(receiver.received, fileOf);
  const idsOf = (requests: Received[]) => new Set(requests.map(({ headers }) => headers["webhook-id"]));
  return [
    ...[...uploaded].filter((id) => !byFile.has(id)).map((id) => `the event of ${id} is lost`),
    ...[...byFile].filter(([, all]) => idsOf(all).size !== 1).map(([id]) => `the event of ${id} has two ids`),
    ...[...byFile.keys()].filter((id) => !uploaded.has(id)).map((id) => `${id} has an event and is no file`),
  ];
}
