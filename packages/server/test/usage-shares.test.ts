import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MB, TIERS } from "@upstow/contract";
import { sql } from "#kysely";
import type { Queryable } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { statement } from "../src/db/statement.ts";
import { changeAccount } from "../src/projects/accounts/accounts.ts";
import { releaseUsage } from "../src/projects/usage/quota.ts";
import { measureDrift, removeDrift } from "../src/projects/usage/recount.ts";
import { addUsage } from "../src/projects/usage/shares.ts";
import { expectError } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

const storeAlready = statement((q, p: { projectId: string; bytes: number }) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: p.bytes })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
/** So that one of the 32 is missing. */
const addEmptyShares = `
INSERT INTO usage_share
  (project_id, environment, period, share, stored_bytes, reserved_bytes, uploads, reserved_uploads)
SELECT project_id, environment, period, (share + n) % 32, 0, 0, 0, 0
FROM usage_share, generate_series(1, 30) AS n;
`;
const holdShares = statement((q, p: { projectId: string }) =>
  q.updateTable("usage_share").set({ uploads: sql`uploads` }).where("project_id", "=", p.projectId),
);
const countShares = statement((q, p: { projectId: string }) =>
  q.selectFrom("usage_share").select(sql<number>`count(*)`.as("count")).where("project_id", "=", p.projectId),
);

/** The counters as the version before kept them. */
const undo = `
UPDATE usage_total SET
  stored_bytes = stored_bytes + (SELECT coalesce(sum(stored_bytes), 0) FROM usage_share
    WHERE usage_share.project_id = usage_total.project_id AND usage_share.environment = usage_total.environment),
  reserved_bytes = reserved_bytes + (SELECT coalesce(sum(reserved_bytes), 0) FROM usage_share
    WHERE usage_share.project_id = usage_total.project_id AND usage_share.environment = usage_total.environment);
INSERT INTO usage_period (project_id, environment, period, uploads, reserved_uploads, stored_bytes)
  SELECT share.project_id, share.environment, period, sum(uploads), sum(reserved_uploads), max(total.stored_bytes)
  FROM usage_share AS share JOIN usage_total AS total
    ON total.project_id = share.project_id AND total.environment = share.environment
  WHERE true GROUP BY share.project_id, share.environment, period;
DROP TABLE usage_share;
ALTER TABLE usage_total ADD CONSTRAINT usage_total_stored_bytes_check CHECK (stored_bytes >= 0);
ALTER TABLE usage_total ADD CONSTRAINT usage_total_reserved_bytes_check CHECK (reserved_bytes >= 0);
ALTER TABLE usage_period ADD CONSTRAINT usage_period_uploads_check CHECK (uploads >= 0);
ALTER TABLE usage_period ADD CONSTRAINT usage_period_reserved_uploads_check CHECK (reserved_uploads >= 0);
DELETE FROM migration WHERE id = '027-usage-shares';
`;

const usageOf = async (app: TestApp, key: string) => (await app.call("GET", "usage", { key })).body.usage;
const historyOf = async (app: TestApp, key: string, months: number) =>
  (await app.call("GET", `usage/history?months=${months}`, { key })).body.usage.map(
    ({ period, uploads, storageBytes }: { period: string; uploads: number; storageBytes: number }) => [
      period,
      uploads,
      storageBytes,
    ],
  );

async function countAccepted(clients: UploadClient[], fileSize: number, count: number): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => clients[i % clients.length]?.requestAnswer({ fileSize })),
  );
  for (const answer of answers)
    if (answer?.status !== 200) expectError(answer as never, 403, "TIER_LIMIT_EXCEEDED");
  return answers.filter((answer) => answer?.status === 200).length;
}

describe("usage counted by two instances", () => {
  it("gives exactly the room that a quota has, and what is released again", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const { projectId, live } = await apps[0].createTenant("free");
    const clients = apps.map((app) => createUploadClient(app, live));
    const [first, second] = clients as [UploadClient, UploadClient];
    const files = await Promise.all(Array.from({ length: 10 }, () => first.upload()));
    const stored = 10 * smallBody.length;
    const base = (TIERS.free.storageBytes ?? 0) - stored - 23 * MB - 1;
    await apps[0].app.deps.db.run(storeAlready, { projectId, bytes: base });
    assert.equal(await countAccepted(clients, MB, 64), 23);
    assert.equal((await usageOf(apps[1], live)).reservedBytes, 23 * MB);
    assert.equal(await countAccepted(clients, 2, 8), 0);
    await second.removeAll(files.map(({ key }) => key));
    assert.equal(await countAccepted(clients, stored, 8), 1);
    await apps[0].app.deps.db.run(storeAlready, { projectId, bytes: 0 });
    await assertCountersMatch(apps[1], projectId, { live: 10 });
  });

  it("counts uploads, deletions and releases of both, at the same time, exactly", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const { projectId, live, test } = await apps[0].createTenant("pro");
    const clients = apps.flatMap((app) => [live, test].map((key) => createUploadClient(app, key)));
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const client = clients[i % clients.length] as UploadClient;
        const { key } = i % 3 === 0 ? await client.request() : await client.upload();
        if (i % 4 === 0) await client.remove(key);
      }),
    );
    await assertCountersMatch(apps[0], projectId);
    const { count = 0 } = (await apps[0].app.deps.db.get(countShares, { projectId })) ?? {};
    assert.ok(count >= 2 && count <= 64, `${count} shares`);
  });

  it("meets a quota that was lowered meanwhile with everything that was reserved without one", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const { projectId, live, email } = await apps[0].createTenant("pro");
    const clients = apps.map((app) => createUploadClient(app, live));
    const limit = TIERS.free.storageBytes ?? 0;
    await apps[0].app.deps.db.run(storeAlready, { projectId, bytes: limit - 5 * MB });
    assert.equal(await countAccepted(clients, MB, 4), 4);
    const racing = countAccepted(clients, MB, 40);
    await changeAccount(apps[1].app.deps, email, { tier: "free" });
    await racing;
    const before = (await usageOf(apps[0], live)).reservedBytes;
    const isFull = before >= 5 * MB;
    assert.equal(await countAccepted(clients, MB, 16), isFull ? 0 : 5 - before / MB);
    await assertReserved(apps[1], live, Math.max(before, 5 * MB));
  });

  it("lets uploads go on while an instance stands still that is counting", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const { projectId, live } = await apps[0].createTenant("pro");
    const client = createUploadClient(apps[1], live);
    await client.upload();
    const nothing = { storedBytes: 0, reservedBytes: 0, uploads: 0, reservedUploads: 0 };
    const period = new Date(apps[0].clock.now()).toISOString().slice(0, 7);
    const goOn = await standStillIn(apps[0], (tx) =>
      addUsage(tx, { ...nothing, projectId, environment: "live", period }),
    );
    await client.upload();
    await client.remove((await client.upload()).key);
    await goOn();
    await assertCountersMatch(apps[0], projectId, { live: 3 });
  });

  it("lets uploads go on while all shares but one are held", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const { projectId, live } = await apps[0].createTenant("pro");
    const client = createUploadClient(apps[1], live);
    await client.upload();
    await apps[0].app.deps.db.migrate((tx) => tx.script(addEmptyShares));
    const goOn = await standStillIn(apps[0], (tx) => tx.run(holdShares, { projectId }));
    await client.upload();
    await goOn();
    await assertCountersMatch(apps[0], projectId, { live: 2 });
  });
});

/** Stops in the middle of a transaction, until the result is called. */
async function standStillIn(app: TestApp, work: (tx: Queryable) => Promise<unknown>) {
  const [holds, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const frozen = app.app.deps.db.transact(async (tx) => {
    await work(tx);
    holds.resolve();
    await goesOn.promise;
  });
  await holds.promise;
  return async () => {
    goesOn.resolve();
    await frozen;
  };
}

async function assertReserved(app: TestApp, key: string, bytes: number): Promise<void> {
  assert.equal((await usageOf(app, key)).reservedBytes, bytes);
}

onBothDatabases("usage", (database) => {
  it("goes on where the version before has counted", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const { projectId, live } = await app.createTenant("free");
    const client = createUploadClient(app, live);
    const [kept, open] = [await client.upload(), await client.request()];
    const { db } = app.app.deps;
    if (database === "postgres") {
      await db.migrate((tx) => tx.script(undo));
      await migrate(db);
    }
    await assertCountersMatch(app, projectId, { live: 1 });
    await client.remove(open.key);
    await client.remove(kept.key);
    await client.upload();
    await assertCountersMatch(app, projectId, { live: 2 });
    const { reservedBytes, storageBytes } = await usageOf(app, live);
    assert.deepEqual([reservedBytes, storageBytes], [0, smallBody.length]);
  });

  it("remembers what each month has stored at its end", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const { projectId, live } = await app.createTenant("pro");
    const client = createUploadClient(app, live);
    const size = smallBody.length;
    app.clock.setTime(Date.UTC(2031, 0, 31, 23, 50));
    const [first] = [await client.upload(), await client.upload()];
    const late = await client.request();
    app.clock.setTime(Date.UTC(2031, 1, 1, 0, 1));
    await put(late.uploadUrl, smallBody);
    await client.complete(late.fileId);
    app.clock.setTime(Date.UTC(2031, 3, 2));
    await client.remove(first.key);
    assert.deepEqual(await historyOf(app, live, 5), [
      ["2031-04", 0, 2 * size],
      ["2031-03", 0, 3 * size],
      ["2031-02", 0, 3 * size],
      ["2031-01", 3, 2 * size],
      ["2030-12", 0, 0],
    ]);
    await assertCountersMatch(app, projectId, { live: 3 });
  });

  it("is corrected by what a recount has found", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const { projectId, live } = await app.createTenant("pro");
    const client = createUploadClient(app, live);
    await client.upload();
    await client.request();
    const { db, now } = app.app.deps;
    const scope = { projectId, environment: "live" } as const;
    const wrong = { storedBytes: -700, reservedBytes: 3, uploadsByPeriod: new Map() };
    await db.transact((tx) => releaseUsage(tx, now(), scope, wrong));
    await assert.rejects(assertCountersMatch(app, projectId, { live: 1 }));
    assert.equal((await usageOf(app, live)).storageBytes, smallBody.length + 700);
    const drift = await measureDrift(db, scope);
    assert.deepEqual(drift, { storedBytes: 700, reservedBytes: -3, reservedUploads: [] });
    if (drift !== null) await removeDrift(db, now(), scope, drift);
    await assertCountersMatch(app, projectId, { live: 1 });
  });
});
