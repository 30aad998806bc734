import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { TRASH_MAX_DAYS } from "@upstow/contract";
import sharp from "sharp";
import { deleteEndedFiles } from "../src/files/delete-files.ts";
import { purgeProject } from "../src/files/purge-project.ts";
import { scrubDeletedFiles } from "../src/files/scrub-deleted.ts";
import { purgeTrash } from "../src/files/trash.ts";
import { continueWalk, startWalk } from "../src/ops/verify/walk.ts";
import { measureDrift } from "../src/projects/usage/recount.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { createPrivateReader, expectGone, expectOver, read } from "./support/private-reader.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

const picture = await sharp({ create: { width: 20, height: 10, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();
const dayMs = 24 * 3_600_000;

onBothDatabases("the trash", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  const setDays = (trashDays: unknown, key = tenant.live) =>
    app.call("PATCH", `projects/${tenant.projectId}`, { key, body: { trashDays } });
  before(async () => {
    app = await startApp({ database });
    app.clock.setTime(Date.now());
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    assert.equal((await setDays(30)).body.project.trashDays, 30);
  });
  after(() => app.close());

  const listTrash = async (query = ""): Promise<{ id: string; status: string }[]> =>
    (await client.list(`?status=DELETED${query}`)).body.files;
  const logged = async (type: string) =>
    (await app.call("GET", `logs?type=${type}&limit=100`, { key: tenant.live })).body.logs.map(
      ({ message }: { message: string }) => message,
    );
  const storage = async () => (await client.usage()).storageBytes;

  it("is a setting of the project: 0 to 90 days, by live keys, shown on the single project", async () => {
    const { live: key } = tenant;
    const path = `projects/${tenant.projectId}`;
    assert.equal((await app.call("GET", path, { key })).body.project.trashDays, 30);
    for (const days of [-1, TRASH_MAX_DAYS + 1, 1.5, "7", null])
      expectInvalid(await setDays(days), "trashDays");
    expectError(await setDays(7, tenant.test), 401, "UNAUTHORIZED");
    assert.equal((await app.call("PATCH", path, { key, body: { name: "n" } })).body.project.trashDays, 30);
    const both = (await app.call("PATCH", path, { key, body: { name: "m", trashDays: 7 } })).body.project;
    assert.deepEqual([both.name, both.trashDays], ["m", 7]);
    assert.ok((await logged("project.updated")).includes("Project settings were changed."));
    const created = await app.call("POST", "projects", { key, body: { name: "other" } });
    const other = `projects/${created.body.project._id}`;
    assert.equal((await app.call("GET", other, { key })).body.project.trashDays, 0);
    const listed = (await app.call("GET", "projects", { key })).body.projects[0];
    assert.equal("trashDays" in listed, false);
  });

  it("takes deleted files: URL and calls are 404 at once, bytes and storage stay", async () => {
    const one = await client.upload();
    app.clock.advance(1);
    const two = await client.upload(smallBody, { fileName: "b.txt" });
    const before = await storage();
    for (let i = 0; i < 2; i++) assert.equal((await read(one.url)).status, 200);
    assert.deepEqual((await client.remove(one.key)).body, { ok: true });
    const { status, body } = await client.removeAll([two.id]);
    assert.deepEqual([status, body], [200, { deleted: 1, failed: 0, failures: [], reclaimedBytes: 0 }]);
    assert.ok((await logged("file.deleted")).includes('"b.txt" was moved to the trash.'));
    for (const { url, key, id } of [one, two]) {
      await expectGone(url);
      for (const answer of [
        await client.get(key),
        await client.get(id),
        await client.patch(key, { name: "c" }),
        await client.remove(key),
        await client.removeAll([id]),
        await client.claim([id]),
        await client.post("files/links", { keys: [key] }),
      ])
        assert.deepEqual([answer.status, answer.body.error.code], [404, "NOT_FOUND"]);
    }
    assert.equal(await storage(), before);
    await deletionsDone(app);
    assert.deepEqual(
      (await listTrash()).map(({ id, status: of }) => [id, of]),
      [
        [two.id, "DELETED"],
        [one.id, "DELETED"],
      ],
    );
    assert.deepEqual(
      (await listTrash("&name=B.T")).map(({ id }) => id),
      [two.id],
    );
    assert.deepEqual(await listTrash("&type=image/*"), []);
    assert.equal((await client.list(`?status=DELETED&limit=1`)).body.hasMore, true);
    assert.equal((await client.list()).body.files.length, 0);
    await assertCountersMatch(app, tenant.projectId);
    const scope = { projectId: tenant.projectId, environment: "live" } as const;
    assert.equal(await measureDrift(app.app.deps.db, scope), null);
  });

  it("gives them back as they were, and each once", async () => {
    const [one, two] = await listTrash();
    assert.ok(one && two);
    const other = createUploadClient(app, (await app.createTenant("free")).live);
    assert.equal((await other.restore([one.id])).status, 404);
    const some = await client.restore([one.id, two.id, "unknown"]);
    assert.deepEqual(
      [some.status, some.body.restored, some.body.failed, some.body.failures[0].key],
      [207, 2, 1, "unknown"],
    );
    for (const { id } of [one, two]) {
      const { file } = (await client.get(id)).body;
      assert.equal(file.status, "UPLOADED");
      assert.deepEqual((await read(file.url)).bytes, smallBody);
    }
    assert.deepEqual((await logged("file.restored")).sort(), [
      '"b.txt" was restored.',
      '"hello.txt" was restored.',
    ]);
    const again = await client.restore([one.id]);
    assert.deepEqual([again.status, again.body.restored, again.body.error.code], [404, 0, "NOT_FOUND"]);
    assert.deepEqual(await listTrash(), []);
    await client.purge([one.id, two.id]);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("ends for good by purge, of stored files too, and frees their storage", async () => {
    const before = await storage();
    const [trashed, stored] = [await client.upload(), await client.upload()];
    await client.remove(trashed.key);
    const { status, body } = await client.purge([trashed.key, stored.key]);
    const reclaimedBytes = 2 * smallBody.length;
    assert.deepEqual([status, body], [200, { deleted: 2, failed: 0, failures: [], reclaimedBytes }]);
    assert.ok((await logged("file.purged")).includes('"hello.txt" was permanently deleted.'));
    assert.equal(await storage(), before);
    assert.deepEqual(await listTrash(), []);
    for (const answer of [await client.purge([trashed.key]), await client.restore([trashed.key, stored.key])])
      assert.equal(answer.status, 404);
    await deletionsDone(app);
    const found = await app.app.deps.store.head(trashed.key);
    assert.equal(found, null);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("ends for good after its days, to the millisecond, though the job comes later", async () => {
    const file = await client.upload();
    const open = await client.request();
    await client.removeAll([file.key, open.fileId]);
    assert.deepEqual(
      (await listTrash()).map(({ id }) => id),
      [file.id],
      "open uploads have no bytes to keep",
    );
    // A shorter time holds for what is deleted from then on.
    await setDays(1);
    app.clock.advance(7 * dayMs - 1);
    assert.equal(await purgeTrash(app.app.deps), 0);
    assert.equal((await listTrash()).length, 1);
    app.clock.advance(1);
    assert.deepEqual(await listTrash(), []);
    assert.equal((await client.restore([file.key])).status, 404);
    assert.equal(await purgeTrash(app.app.deps), 1);
    assert.equal(await purgeTrash(app.app.deps), 0);
    assert.equal(await storage(), 0);
    await deletionsDone(app);
    assert.equal(await app.app.deps.store.head(file.key), null);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("keeps the rights to a file as they were, except links, which end with its deletion", async () => {
    const reader = createPrivateReader(client);
    const file = await client.upload(picture, {
      access: "private",
      audience: "us",
      fileName: "a.png",
      contentType: "image/png",
    });
    const link = await reader.linkTo(file.key);
    const grant = `${await reader.grant({ audience: "us" })}/${file.key}`;
    const variantOf = async () =>
      (await client.post("transforms/image", { key: file.key, width: 5 })).body.url;
    const variant = await variantOf();
    for (const url of [link, grant, variant]) assert.equal((await read(url)).status, 200);
    app.clock.advance(1_000);
    await client.remove(file.key);
    for (const url of [link, grant, variant]) assert.equal((await read(url)).status, 404);
    app.clock.advance(1_000);
    await client.restore([file.key]);
    await expectGone(file.url);
    await expectOver(link, "revoked");
    assert.equal((await read(variant)).status, 403);
    for (const url of [grant, await reader.linkTo(file.key), await variantOf()])
      assert.equal((await read(url)).status, 200);
    const { file: restored } = (await client.get(file.key)).body;
    assert.deepEqual([restored.access, restored.audience], ["private", "us"]);
  });

  it("brings public variants back with their file", async () => {
    const file = await client.upload(picture, { fileName: "a.png", contentType: "image/png" });
    const wanted = { key: file.key, width: 5, format: "webp", delivery: "public" };
    const { url } = (await client.post("transforms/image", wanted)).body;
    const { bytes } = await read(url);
    await client.remove(file.key);
    await expectGone(url);
    await client.restore([file.key]);
    assert.deepEqual((await read(url)).bytes, bytes);
  });

  it("takes expired files, and gives them back without their end", async () => {
    const [expired, waiting] = [
      await client.upload(smallBody, { expiresIn: 60 }),
      await client.upload(smallBody, { expiresIn: 600 }),
    ];
    await client.remove(waiting.key);
    app.clock.advance(60_000);
    assert.equal(await deleteEndedFiles(app.app.deps), 1);
    assert.equal((await client.restore([expired.key, waiting.key])).body.restored, 2);
    assert.equal((await client.get(expired.key)).body.file.expiresAt, null);
    assert.equal((await client.get(waiting.key)).body.file.expiresAt, waiting.expiresAt);
    assert.equal(await deleteEndedFiles(app.app.deps), 0);
  });

  it("is known to the check of records and bytes, and to the scrubber of names", async () => {
    const file = await client.upload();
    await client.remove(file.key);
    const { deps } = app.app;
    const walk = await continueWalk(
      deps,
      { walk: startWalk({ fix: true, share: 1, acceptEtags: false }), startedAt: deps.now() },
      {
        name: "verify",
        mostFilesPerCounter: Number.POSITIVE_INFINITY,
        onFinding: (finding) => assert.fail(JSON.stringify(finding)),
        onStep: () => {},
        signal: new AbortController().signal,
      },
    );
    assert.equal(walk.hasEnded, true);
    await setDays(90);
    await client.restore([file.key]);
    await client.remove(file.key);
    const config = { ...deps.config, logRetentionDays: 30 };
    app.clock.advance(60 * dayMs);
    await scrubDeletedFiles({ ...deps, config }, new AbortController().signal);
    assert.equal((await client.restore([file.key])).status, 200);
    assert.deepEqual((await read(file.url)).bytes, smallBody);
  });

  it("is emptied when its project is deleted, and by a purge of the project", async () => {
    const owner = await app.createTenant("pro");
    for (const isPurgedByHand of [false, true]) {
      const made = await app.call("POST", "projects", {
        key: owner.live,
        body: { name: "short", createKeys: ["live"] },
      });
      const { project, keys } = made.body;
      const own = createUploadClient(app, keys[0].secret);
      const body = { trashDays: 90 };
      await app.call("PATCH", `projects/${project._id}`, { key: owner.live, body });
      const [kept, trashed] = [await own.upload(), await own.upload()];
      await own.remove(trashed.key);
      await app.call("DELETE", `projects/${project._id}`, { key: owner.live });
      await assertCountersMatch(app, project._id, { live: 2 });
      if (!isPurgedByHand) {
        assert.equal(await purgeTrash(app.app.deps), 1);
        assert.equal(await purgeTrash(app.app.deps), 0);
        assert.equal((await read(kept.url)).status, 200);
      }
      const purge = await purgeProject(app.app.deps, project._id);
      assert.equal(purge.deletedFiles, isPurgedByHand ? 2 : 1);
      await assertCountersMatch(app, project._id, { live: 2 });
      await deletionsDoneBy();
      for (const { key } of [kept, trashed]) assert.equal(await app.app.deps.store.head(key), null);
    }
  });

  const deletionsDoneBy = async () => {
    const { runDeletions } = await import("../src/files/storage-deletions.ts");
    app.clock.advance(61_000);
    await runDeletions(app.app.deps);
  };
});
