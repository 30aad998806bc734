import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SEARCH_TERM_MAX } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { createId } from "../src/kernel/ids.ts";
import { insertLog } from "../src/projects/logs/queries.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { expectInvalid } from "./support/expect-error.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

/** Almost a match at every position: what makes a naive search compare the whole term at each. */
const nearMiss = `${"a".repeat(SEARCH_TERM_MAX - 1)}b`;
const rowText = "a".repeat(16_000);
const rowCount = 600;
/** Rows of 16 KB that fit what SQLite may read before others get their turn. */
const rowsPerTurn = 33;

const currentTurn = () => performance.nodeTiming.uvMetricsInfo.loopCount;
const countSessions = statement((q, _: object) => q.selectFrom("console_session").select("id").limit(1));

onAnyDatabase("a search made to be slow", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let inLive: string;

  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    inLive = `/in/${tenant.projectId}/live`;
  });
  after(() => app.close());

  /** How often other work was done while the search ran, and how many turns the event loop made. */
  async function serveMeanwhile(path: string): Promise<{ served: number; turns: number; body: SearchBody }> {
    let isRunning = true;
    let served = 0;
    const others = (async () => {
      while (isRunning) {
        await app.app.deps.db.get(countSessions, {});
        await new Promise((resolve) => setImmediate(resolve));
        served++;
      }
    })();
    const from = currentTurn();
    const { status, body } = await owner("GET", path);
    const turns = currentTurn() - from;
    isRunning = false;
    await others;
    assert.equal(status, 200, JSON.stringify(body));
    return { served, turns, body };
  }
  interface SearchBody {
    files?: unknown[];
    logs?: unknown[];
    count?: number;
    hasMore: boolean;
  }

  test("in metadata lets others work every few rows", async () => {
    const describe = () => ({ metadata: JSON.stringify({ text: rowText }) });
    await insertManyFiles(app, { projectId: tenant.projectId, count: rowCount, describe });
    const queries = [`metadata=${nearMiss}`, `metadata=text%3D${nearMiss.slice(5)}`];
    for (const query of queries) {
      const { served, turns, body } = await serveMeanwhile(`${inLive}/search?${query}`);
      assert.deepEqual([body.files, body.hasMore], [[], false]);
      if (database === "sqlite")
        assert.ok(Math.min(served, turns) >= rowCount / rowsPerTurn, `${served} served in ${turns} turns`);
    }
    const counted = await serveMeanwhile(`${inLive}/search/count?metadata=${nearMiss}`);
    assert.deepEqual([counted.body.count, counted.body.hasMore], [0, false]);
    if (database === "sqlite") assert.ok(counted.served >= rowCount / rowsPerTurn);
  });

  test("in logs lets others work every few hundred entries", async () => {
    const { db } = app.app.deps;
    const entries = 3_000;
    await db.transact(async (tx) => {
      for (let i = 0; i < entries; i++) {
        const now = app.clock.now();
        await tx.run(insertLog, {
          id: createId(now),
          project_id: tenant.projectId,
          environment: "live",
          type: "file.uploaded",
          file_id: null,
          key: null,
          message: "a".repeat(1_000),
          data: "{}",
          created_at: now,
        });
      }
    });
    const { served, body } = await serveMeanwhile(`${inLive}/logs/search?text=${nearMiss}`);
    assert.deepEqual([body.logs, body.hasMore], [[], false]);
    if (database === "sqlite") assert.ok(served >= entries / 500, `${served} served`);
  });

  test("waits behind others of its account, not before everybody, and too many are refused", async () => {
    const path = `${inLive}/search?metadata=${nearMiss}`;
    const many = await Promise.all(Array.from({ length: 60 }, () => owner("GET", path)));
    const statuses = new Set(many.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [200, 429]);
    const refused = many.find(({ status }) => status === 429);
    assert.equal(refused?.body.error.code, "RATE_LIMITED");
    assert.equal(refused?.headers.get("retry-after"), "5");
    assert.equal((await owner("GET", path)).status, 200);
  });

  test("takes terms of 64 characters and no more", async () => {
    const longer = `${nearMiss}b`;
    for (const [path, field] of [
      [`search?metadata=${longer}`, "metadata"],
      [`search?name=${longer}`, "name"],
      [`search/count?metadata=${longer}`, "metadata"],
      [`logs/search?text=${longer}`, "text"],
      [`logs/stream?text=${longer}`, "text"],
    ] as const)
      expectInvalid(await owner("GET", `${inLive}/${path}`), field);
    const deletion = { metadata: longer, before: createId(app.clock.now()) };
    expectInvalid(await owner("POST", `${inLive}/search/delete`, deletion), "metadata");
  });
});
