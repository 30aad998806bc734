import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { sql } from "#kysely";
import { createBucketEnv, type S3Server } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { createJobLeases } from "../src/db/job-leases.ts";
import { statement } from "../src/db/statement.ts";
import type { Deps } from "../src/deps.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { openTransforms } from "../src/serving/images/transforms.ts";
import { assertCountersMatch } from "./support/recount.ts";
import type { TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";
import { uploadFile } from "./support/upload.ts";
import { put, smallBody } from "./support/upload-client.ts";
import { createTenantClients, keepReaperAway, listLogTypes, statusOf } from "./support/upload-life.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const never = new AbortController().signal;
const job = "reap in turns";
/** As if the lease had run out by the database's clock. */
const endLease = statement((q, _: object) =>
  q
    .updateTable("job_lease")
    .set({ held_until: sql.lit(0) })
    .where("name", "=", job),
);

describe("two instances with one PostgreSQL and one bucket", { skip: swiftMissing }, () => {
  let server: S3Server;
  let pair: Awaited<ReturnType<typeof startPair>>;
  let apps: [TestApp, TestApp];
  before(async () => {
    server = await startSwift();
    pair = await startPair({ env: await createBucketEnv(server) });
    apps = pair.apps;
    await keepReaperAway(apps[0]);
  });
  after(async () => {
    await pair?.close();
    await server?.stop();
  });

  const letTimePass = (ms: number) => {
    for (const app of apps) app.clock.advance(ms);
  };

  /** What background work does: takes the lease of the reaper and reaps; null where another one has it. */
  async function takeTurn(app: TestApp, deps: Deps = app.app.deps): Promise<number | null> {
    let endedCount: number | null = null;
    const work = async (signal: AbortSignal) => {
      endedCount = await reapAbandonedUploads(deps, signal);
    };
    await createJobLeases(app.app.deps.db)(job, hourMs, work, never);
    return endedCount;
  }

  /** An instance that stands still when it has looked for so many uploads in the bucket, and goes on when told. */
  function standStill({ app: { deps } }: TestApp, uploadCount: number) {
    let lookedCount = 0;
    const looked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const halt = async <T>(answer: Promise<T>) => {
      const seen = await answer;
      if (++lookedCount === uploadCount) looked.resolve();
      await goOn.promise;
      return seen;
    };
    const { store } = deps;
    const halting: Deps["store"] = {
      ...store,
      findReceived: (key) => halt(store.findReceived(key)),
      listParts: (upload) => halt(store.listParts(upload)),
    };
    return { deps: { ...deps, stores: { ...deps.stores, get: async () => halting } }, looked, goOn };
  }

  it("do not reap at the same time, nor one after the other within a turn", async () => {
    const [first, second] = apps;
    const { tenant, client } = await createTenantClients(first);
    const uploads = [await client.request(), await client.request(), await client.request()];
    letTimePass(21 * minuteMs);
    const { deps, looked, goOn } = standStill(first, 3);
    const turn = takeTurn(first, deps);
    await looked.promise;
    assert.equal(await takeTurn(second), null, "while the first is at it");
    for (const { key } of uploads) assert.equal(await statusOf(client, key), "UPLOADING");
    goOn.resolve();
    assert.equal(await turn, 3);
    assert.equal(await takeTurn(second), null, "in the same turn");
    await assertCountersMatch(first, tenant.projectId, { live: 0 });
    await first.app.deps.db.run(endLease, {});
    assert.equal(await takeTurn(second), 0, "the next turn is anybody's");
  });

  it("one that stood still, and was taken over, ends nothing twice and nothing that lives again", async () => {
    const [sleeper, other] = apps;
    await sleeper.app.deps.db.run(endLease, {});
    const { tenant, client } = await createTenantClients(other);
    const [left, returned] = [await client.request(), await client.request()];
    const resumed = await client.init();
    letTimePass(66 * minuteMs);
    const { deps, looked, goOn } = standStill(sleeper, 3);
    const turn = takeTurn(sleeper, deps);
    await looked.promise;

    // It has seen three uploads without a byte. By the time it acts, one is finished and one goes on.
    assert.equal((await put(returned.uploadUrl, smallBody)).status, 200);
    assert.equal((await client.complete(returned.fileId)).status, 200);
    assert.equal((await client.sign(resumed, [1])).status, 200);
    await other.app.deps.db.run(endLease, {});
    assert.equal(await takeTurn(other), 1);
    goOn.resolve();
    assert.equal(await turn, 0, "it was never told, and still changed nothing");

    assert.equal(await statusOf(client, left.key), "FAILED");
    assert.deepEqual(await listLogTypes(other, left.fileId), ["upload.requested", "upload.failed"]);
    assert.equal(await statusOf(client, resumed.key), "UPLOADING");
    assert.equal((await client.listParts(resumed)).status, 200);
    const served = await fetch(`${other.url}/f/${returned.key}`);
    assert.deepEqual([served.status, await served.text()], [200, smallBody.toString()]);
    await assertCountersMatch(other, tenant.projectId, { live: 1 });
  });

  it("show a new name on the next read, whichever one it was given to", async () => {
    const [first, second] = apps;
    const { client } = await createTenantClients(first);
    const file = await client.upload();
    const path = new URL(file.url).pathname;
    const nameAt = async (app: TestApp) => {
      const response = await fetch(`${app.url}${path}`);
      await response.text();
      return /filename="([^"]*)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
    };
    for (const name of ["one.txt", "two.txt", "three.txt"]) {
      await nameAt(second);
      await client.patch(file.id, { name });
      assert.deepEqual([await nameAt(second), await nameAt(first)], [name, name]);
    }
  });

  it("one that has lost its turn evicts no image", async (t) => {
    const [app] = apps;
    const { live } = await app.createTenant("pro");
    const photo = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
      .png()
      .toBuffer();
    const { key } = await uploadFile(app, photo, { key: live, name: "p.png", type: "image/png" });
    const body = { key, width: 20, format: "png", delivery: "public" };
    const { url } = (await app.call("POST", "transforms/image", { key: live, body })).body;
    assert.equal((await fetch(url)).status, 200);
    const variants = statement((q, _: object) => q.selectFrom("variant").select("state"));
    const listStates = async () => (await app.app.deps.db.all(variants, {})).map(({ state }) => state);
    const transforms = await openTransforms(app.app.deps);
    t.after(() => transforms.close());
    await assert.rejects(transforms.evict(0, AbortSignal.abort()), { name: "AbortError" });
    assert.deepEqual(await listStates(), ["ready"]);
    await transforms.evict(0, never);
    assert.deepEqual(await listStates(), []);
  });
});
