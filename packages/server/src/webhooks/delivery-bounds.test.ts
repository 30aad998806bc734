import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { DELIVERY_SCAN_MAX_ROWS } from "@upstow/contract";
import { sql } from "#kysely";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "../../test/support/start-app.ts";
import { statement } from "../db/statement.ts";
import { createId } from "../kernel/ids.ts";
import { DELIVERIES_AT_ONCE } from "./deliveries.ts";

const columns = [
  "id",
  "project_id",
  "environment",
  "seq",
  "event",
  "file_id",
  "route_slug",
  "body",
  "url",
  "state",
  "attempt_count",
  "retried",
  "retries_allowed",
  "interruptions",
  "run_at",
  "created_at",
] as const;

/** Delivered messages, from the text of a JSON list of ids. */
const insertDelivered = statement((q, p: { projectId: string; idsJson: string; first: number }, dialect) => {
  const rows =
    dialect === "sqlite"
      ? sql`(select value as id, key as place from json_each(${p.idsJson}))`
      : sql`(select id, place - 1 as place
          from jsonb_array_elements_text(cast(cast(${p.idsJson} as text) as jsonb)) with ordinality as t (id, place))`;
  const values = sql`id, cast(${p.projectId} as text), 'live', place + cast(${p.first} as bigint), 'upload.completed',
    id, 'default', '{}', 'https://hooks.example/', 'delivered', 1, 0, 3, 0, 0, 0`;
  return q
    .insertInto("webhook_message")
    .columns(columns)
    .expression(sql`select ${values} from ${rows} as numbered where true`);
});

const markDead = statement((q, p: { id: string; slug: string }) =>
  q.updateTable("webhook_message").set({ state: "dead", route_slug: p.slug }).where("id", "=", p.id),
);

const total = 2 * DELIVERY_SCAN_MAX_ROWS + DELIVERIES_AT_ONCE + 1;

onAnyDatabase("deliveries of a project with very many", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  const ids: string[] = [];

  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    const start = app.clock.now() - total;
    for (let i = 0; i < total; i++) ids.push(createId(start + i));
    const { db } = app.app.deps;
    for (let first = 0; first < total; first += 10_000) {
      const idsJson = JSON.stringify(ids.slice(first, first + 10_000));
      await db.run(insertDelivered, { projectId: tenant.projectId, idsJson, first });
    }
    for (const index of [0, 1]) await db.run(markDead, { id: ids[index] ?? "", slug: "old" });
  });
  after(() => app.close());

  const list = (query: string) => app.call("GET", `webhooks/deliveries?${query}`, { key: tenant.live });

  /** The ids on each page that a filter has. */
  async function walk(query: string): Promise<string[][]> {
    const pages: string[][] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await list(`${query}${cursor}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.hasMore, body.nextCursor !== null);
      pages.push(body.deliveries.map(({ id }: { id: string }) => id));
      if (!body.hasMore) return pages;
      cursor = `&cursor=${body.nextCursor}`;
    }
  }

  it("reads so many a call where a filter passes most of them by, and goes on there", async () => {
    assert.deepEqual(await walk("routeSlug=old"), [[], [], [ids[1], ids[0]]]);
    assert.deepEqual(await walk("routeSlug=old&limit=1"), [[], [], [ids[1]], [ids[0]]]);
    assert.deepEqual(await walk("status=pending"), [[], [], []]);
  });

  it("needs one call where an index serves, or the page fills", async () => {
    assert.deepEqual(await walk("status=dead"), [[ids[1], ids[0]]]);
    assert.deepEqual(await walk("status=dead&routeSlug=old"), [[ids[1], ids[0]]]);
    const { body } = await list("status=delivered&limit=100");
    assert.deepEqual(
      body.deliveries.map(({ id }: { id: string }) => id),
      ids.slice(-100).reverse(),
    );
    const newer = await list(`status=delivered&limit=100&cursor=${body.nextCursor}`);
    assert.equal(newer.body.deliveries[0].id, ids.at(-101));
  });

  it("counts and queues all that match, other requests being answered meanwhile", async () => {
    const redeliver = (body: object) =>
      app.call("POST", "webhooks/deliveries/redeliver", { key: tenant.live, body });
    let isOver = false;
    const counted = redeliver({ filter: {}, dryRun: true }).finally(() => {
      isOver = true;
    });
    let answered = 0;
    for (; !isOver; answered++) assert.equal((await app.call("GET", "/healthz")).status, 200);
    assert.deepEqual((await counted).body, { matched: total, queued: 0 });
    assert.ok(answered > 3, `${answered} answers`);
    const queued = await redeliver({ filter: { routeSlug: "old" } });
    assert.deepEqual(queued.body, { matched: 2, queued: 2 });
  });
});
