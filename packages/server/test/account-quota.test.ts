import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { GB, MB, TIERS, type TierName } from "@upstow/contract";
import sharp from "sharp";
import type { Queryable } from "../src/db/database.ts";
import { statement } from "../src/db/statement.ts";
import { purgeProject } from "../src/files/purge-project.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { createKeyFor } from "../src/projects/api-keys/api-keys.ts";
import { createProject as createProjectOf } from "../src/projects/projects.ts";
import { deleteProjectRow, freeProjectPlace } from "../src/projects/queries.ts";
import { expectError } from "./support/expect-error.ts";
import { type Answer, onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";
import { uploadFile } from "./support/upload.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

interface Used {
  projectId: string;
  environment: "live" | "test";
  period: string;
  storedBytes: number;
  uploads: number;
  units: number;
}

const setStored = statement((q, p: Used) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: p.storedBytes })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);
const setPeriod = statement((q, p: Used) =>
  q.insertInto("usage_period").values({
    project_id: p.projectId,
    environment: p.environment,
    period: p.period,
    uploads: p.uploads,
    reserved_uploads: 0,
    bandwidth_bytes: 0,
    transform_units: p.units,
    stored_bytes: p.storedBytes,
  }),
);

/** An account whose projects tests make, fill and delete. */
async function createOwner(app: TestApp, tier: TierName) {
  const tenant = await app.createTenant(tier);
  const { db } = app.app.deps;

  async function use(projectId: string, used: Partial<Used>, tx: Queryable = db): Promise<void> {
    const period = new Date(app.clock.now()).toISOString().slice(0, 7);
    const nothing = { environment: "live", storedBytes: 0, uploads: 0, units: 0 } as const;
    const row = { ...nothing, projectId, period, ...used };
    await tx.run(setStored, row);
    await tx.run(setPeriod, row);
  }

  /** As if each had been created, used and deleted by itself. */
  async function addDeletedProjects(count: number, used: Partial<Used>): Promise<string[]> {
    const { accountId } = tenant;
    const now = app.clock.now();
    return db.transact(async (tx) => {
      const ids: string[] = [];
      while (ids.length < count) {
        const { id } = await createProjectOf(tx, now, { accountId, tier }, "next");
        await use(id, used, tx);
        await tx.get(deleteProjectRow, { id, accountId, now });
        await tx.run(freeProjectPlace, { accountId });
        ids.push(id);
      }
      return ids;
    });
  }

  const createProject = () => app.call("POST", "projects", { key: tenant.live, body: { name: "next" } });

  async function addProject(): Promise<{ id: string; live: UploadClient; test: UploadClient }> {
    const { status, body } = await createProject();
    assert.equal(status, 201, JSON.stringify(body));
    const id = body.project._id;
    const keyOf = async (type: "live" | "test") =>
      (await createKeyFor(app.app.deps, { projectId: id, type, name: type })).secret;
    return {
      id,
      live: createUploadClient(app, await keyOf("live")),
      test: createUploadClient(app, await keyOf("test")),
    };
  }

  async function deleteProject(id: string): Promise<void> {
    assert.equal((await app.call("DELETE", `projects/${id}`, { key: tenant.live })).status, 200);
  }

  const first = {
    id: tenant.projectId,
    live: createUploadClient(app, tenant.live),
    test: createUploadClient(app, tenant.test),
  };
  return { tenant, first, use, createProject, addProject, deleteProject, addDeletedProjects };
}

function expectCeiling(answer: Answer): void {
  const error = expectError(answer, 403, "TIER_LIMIT_EXCEEDED");
  assert.match(error.message, /account/);
  assert.match(error.message, /deleted/);
}

async function countAccepted(clients: UploadClient[], fileSize: number, count = 200): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => clients[i % clients.length]?.requestAnswer({ fileSize })),
  );
  for (const answer of answers)
    if (answer?.status !== 200) expectError(answer as Answer, 403, "TIER_LIMIT_EXCEEDED");
  return answers.filter((answer) => answer?.status === 200).length;
}

onBothDatabases("the quota of an account", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  it("is not won back by deleting a project: the month's uploads", async () => {
    const { first, use, addProject, deleteProject } = await createOwner(app, "free");
    await use(first.id, { uploads: 1000 });
    const second = await addProject();
    await use(second.id, { uploads: 1000 });
    await deleteProject(second.id);
    const third = await addProject();
    const refused = await third.live.requestAnswer();
    expectCeiling(refused);
    assert.match(refused.body.error.message, /: 2,000 completed and 0 open uploads of 2,000\.$/);
    await purgeProject(app.app.deps, second.id);
    expectCeiling(await third.live.requestAnswer());
    app.clock.advance(32 * 24 * 3_600_000);
    assert.equal((await third.live.requestAnswer()).status, 200);
    app.clock.advance(-32 * 24 * 3_600_000);
  });

  it("is not won back by deleting a project: storage, until it is purged", async () => {
    const { first, use, addProject, deleteProject } = await createOwner(app, "free");
    const second = await addProject();
    const files = [await second.live.upload(), await second.live.upload()];
    const filled = files.length * smallBody.length;
    await use(first.id, { storedBytes: 5 * GB });
    await deleteProject(second.id);
    const third = await addProject();
    await use(third.id, { storedBytes: 5 * GB - filled });
    const refused = await third.live.requestAnswer({ fileSize: 1 });
    expectCeiling(refused);
    assert.match(refused.body.error.message, / bytes stored and 0 bytes reserved by open uploads of /);
    await purgeProject(app.app.deps, second.id);
    assert.equal((await third.live.requestAnswer({ fileSize: 1 })).status, 200);
  });

  it("holds open uploads of deleted projects until they are reaped", async () => {
    const { first, use, addProject, deleteProject } = await createOwner(app, "free");
    await use(first.id, { uploads: 999 });
    const second = await addProject();
    await use(second.id, { uploads: 999 });
    await second.live.request();
    await deleteProject(second.id);
    const third = await addProject();
    assert.equal((await third.live.requestAnswer()).status, 200);
    const refused = await third.live.requestAnswer();
    expectCeiling(refused);
    assert.match(refused.body.error.message, /: 1,998 completed and 2 open uploads of 2,000\.$/);
    app.clock.advance(21 * 60_000);
    await reapAbandonedUploads(app.app.deps);
    assert.equal((await third.live.requestAnswer()).status, 200);
  });

  it("is never overshot by 200 requests at once over several projects", async () => {
    const uploads = await createOwner(app, "free");
    const gone = await uploads.addProject();
    await uploads.use(gone.id, { uploads: 1000 });
    await uploads.deleteProject(gone.id);
    const other = await uploads.addProject();
    await uploads.use(uploads.first.id, { uploads: 500 });
    await uploads.use(other.id, { uploads: 467 });
    assert.equal(await countAccepted([uploads.first.live, other.live], 1), 33);

    const storage = await createOwner(app, "free");
    const left = await storage.addProject();
    await storage.use(left.id, { storedBytes: 5 * GB });
    await storage.deleteProject(left.id);
    const beside = await storage.addProject();
    await storage.use(storage.first.id, { storedBytes: 2 * GB });
    await storage.use(beside.id, { storedBytes: 3 * GB - (21 * 4 * MB + MB) });
    assert.equal(await countAccepted([storage.first.live, beside.live], 4 * MB), 21);
  });

  it("holds paid tiers up in the multipart flow only, and Enterprise not at all", async () => {
    const { uploadsPerMonth, projects } = TIERS.pro;
    assert.ok(uploadsPerMonth !== null && projects !== null);
    const pro = await createOwner(app, "pro");
    const gone = await pro.addProject();
    await pro.use(gone.id, { uploads: uploadsPerMonth * projects - 1 });
    await pro.deleteProject(gone.id);
    assert.equal((await pro.first.live.initAnswer()).status, 200);
    expectCeiling(await pro.first.live.initAnswer());
    assert.equal((await pro.first.live.requestAnswer()).status, 200);
    const enterprise = await createOwner(app, "enterprise");
    const large = await enterprise.addProject();
    await enterprise.use(large.id, { uploads: 1e9, storedBytes: 1e15 });
    await enterprise.deleteProject(large.id);
    assert.equal((await enterprise.first.live.initAnswer()).status, 200);
  });

  it("covers the sandbox's storage", async () => {
    const { first, use, addProject, deleteProject } = await createOwner(app, "free");
    await use(first.id, { environment: "test", storedBytes: GB });
    const second = await addProject();
    await use(second.id, { environment: "test", storedBytes: GB - 5 });
    await deleteProject(second.id);
    const third = await addProject();
    assert.equal((await third.test.requestAnswer({ fileSize: 5 })).status, 200);
    expectCeiling(await third.test.requestAnswer({ fileSize: 1 }));
    assert.equal((await third.live.requestAnswer({ fileSize: 1 })).status, 200);
  });

  it("covers transform units", async () => {
    const { tenant, first, use, addProject, deleteProject } = await createOwner(app, "pro");
    const gone = await addProject();
    await use(gone.id, { units: 10 * TIERS.pro.transformUnitsPerMonth - 6 });
    await deleteProject(gone.id);
    const photo = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#37a" } })
      .png()
      .toBuffer();
    const upload = { name: "photo.png", type: "image/png" };
    const second = await addProject();
    const keys = [tenant.live, second.live.key];
    const files = await Promise.all(keys.map((key) => uploadFile(app, photo, { key, ...upload })));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        app.call("POST", "transforms/image", {
          key: keys[i % 2] ?? "",
          body: { key: files[i % 2]?.key, width: 10 + i, format: "png" },
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(answers.length - refused.length, 6);
    for (const answer of refused) {
      const error = expectError(answer, 429, "IMAGE_TRANSFORM_LIMIT_EXCEEDED");
      assert.match(error.message, /account/);
    }
    void first;
  });

  it("lets nobody pile up deleted projects that hold something", async () => {
    const { use, createProject, addProject, deleteProject, addDeletedProjects } = await createOwner(
      app,
      "free",
    );
    for (let i = 0; i < 10; i++) await deleteProject((await createProject()).body.project._id);
    const ids = await addDeletedProjects(195, { environment: "test", storedBytes: 1 });
    for (;;) {
      const made = await createProject();
      if (made.status !== 201) {
        expectError(made, 403, "TIER_LIMIT_EXCEEDED");
        assert.match(made.body.error.message, /deleted/);
        assert.match(made.body.error.suggestion, /[Pp]urge/);
        break;
      }
      const id = made.body.project._id;
      await use(id, { environment: "test", storedBytes: 1 });
      ids.push(id);
      await deleteProject(id);
      assert.ok(ids.length <= 300, "no bound in sight");
    }
    assert.equal(ids.length, 200);
    const period = "2020-01";
    const [emptied = ""] = ids;
    const row = {
      projectId: emptied,
      environment: "test",
      period,
      storedBytes: 0,
      uploads: 0,
      units: 0,
    } as const;
    await app.app.deps.db.run(setStored, row);
    await addProject();
  });
});

onBothDatabases("reservations", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  it("show in the usage of the environment that made them, and go with the upload", async () => {
    const { tenant, first } = await createOwner(app, "free");
    const open = [await first.live.request(), await first.live.request({ fileSize: 1000 })];
    const usage = async (key: string) => (await app.call("GET", "usage", { key })).body.usage;
    const now = await usage(tenant.live);
    assert.deepEqual([now.uploads, now.reservedUploads], [0, 2]);
    assert.deepEqual([now.storageBytes, now.reservedBytes], [0, smallBody.length + 1000]);
    assert.equal((await usage(tenant.test)).reservedUploads, 0);
    await first.live.remove(open[1]?.key ?? "");
    await first.live.upload();
    const then = await usage(tenant.live);
    assert.deepEqual([then.uploads, then.reservedUploads, then.reservedBytes], [1, 1, smallBody.length]);
    const { body } = await app.call("GET", "usage/history", { key: tenant.live });
    assert.equal("reservedUploads" in body.usage[0], false);
  });

  it("are named by a refusal that they cause", async () => {
    const { first, use } = await createOwner(app, "free");
    await use(first.id, { uploads: 997 });
    for (let i = 0; i < 3; i++) await first.live.request();
    const uploads = expectError(await first.live.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
    assert.match(uploads.message, /997 .*\b3 open\b/);
    assert.match(uploads.suggestion, /20 minutes/);
    const full = await createOwner(app, "free");
    await full.use(full.first.id, { storedBytes: 5 * GB - 1000 });
    await full.first.live.request({ fileSize: 1000 });
    const storage = expectError(await full.first.live.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
    assert.match(storage.message, /\b1,000 bytes\b.* open/);
    assert.match(storage.suggestion, /20 minutes/);
  });
});

describe("the quota of an account on two instances", () => {
  it("is never overshot", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const { first, use, addProject, deleteProject } = await createOwner(apps[0], "free");
    const gone = await addProject();
    await use(gone.id, { uploads: 1000 });
    await deleteProject(gone.id);
    const other = await addProject();
    await use(first.id, { uploads: 500 });
    await use(other.id, { uploads: 467 });
    const clients = apps.flatMap((app) =>
      [first, other].map(({ live }) => createUploadClient(app, live.key)),
    );
    assert.equal(await countAccepted(clients, 1), 33);
  });
});
