import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { CLAIM_WITHIN_MAX_SEC } from "@upstow/contract";
import { deleteEndedFiles } from "../src/files/delete-files.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { read } from "./support/private-reader.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import {
  createUploadClient,
  partPieces,
  put,
  smallBody,
  type UploadClient,
} from "./support/upload-client.ts";

onBothDatabases("files that have to be claimed", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let routerId = "";
  before(async () => {
    app = await startApp({ database });
    app.clock.setTime(Date.now());
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    const path = `projects/${tenant.projectId}/routers`;
    const body = { slug: "form", claimWithin: 60 };
    const { router } = (await app.call("POST", path, { key: tenant.live, body })).body;
    assert.equal(router.claimWithin, 60);
    routerId = router.id;
  });
  after(() => app.close());

  const upload = () => client.upload(smallBody, { routeSlug: "form" });
  const inTime = (ms: number) => new Date(app.clock.now() + ms).toISOString();
  const logged = async (type: string) =>
    (await app.call("GET", `logs?type=${type}&limit=100`, { key: tenant.live })).body.logs.map(
      ({ message }: { message: string }) => message,
    );

  it("say by when, counted from their completion, in both flows and in batches", async () => {
    const requested = await client.request({ routeSlug: "form" });
    assert.equal((await client.get(requested.fileId)).body.file.claimBy, null);
    await put(requested.uploadUrl, smallBody);
    app.clock.advance(30_000);
    const done = await client.post("upload/batch/complete", { files: [{ fileId: requested.fileId }] });
    assert.equal(done.body.files[0].file.claimBy, inTime(60_000));
    assert.equal((await client.get(requested.fileId)).body.file.claimBy, inTime(60_000));
    const big = await client.uploadPieces(partPieces(), { routeSlug: "form" });
    assert.equal(big.claimBy, inTime(60_000));
    assert.equal((await client.upload()).claimBy, null);
    const [listed] = (await client.list("?routeSlug=form&limit=1")).body.files;
    assert.equal(listed.claimBy, inTime(60_000));
    await client.removeAll([requested.fileId, big.id]);
  });

  it("stay once they are claimed, however often, by key or id", async () => {
    const [one, two, plain] = [await upload(), await upload(), await client.upload()];
    const keys = [one.key, two.id, plain.key];
    for (let i = 0; i < 2; i++) {
      const { status, body } = await client.claim(keys);
      assert.deepEqual([status, body], [200, { claimed: 3, failed: 0, failures: [] }]);
    }
    assert.deepEqual(await logged("file.claimed"), Array(2).fill('"hello.txt" was claimed.'));
    assert.equal((await client.get(one.key)).body.file.claimBy, null);
    app.clock.advance(120_000);
    assert.equal(await deleteEndedFiles(app.app.deps), 0);
    for (const { url } of [one, two, plain]) assert.equal((await read(url)).status, 200);
  });

  it("are gone at the moment otherwise: reads, calls and claims are 404, and the job deletes", async () => {
    const [late, claimed] = [await upload(), await upload()];
    app.clock.advance(59_999);
    assert.equal((await read(late.url)).status, 200);
    await client.claim([claimed.key]);
    app.clock.advance(1);
    assert.equal((await read(late.url)).status, 404);
    expectError(await client.get(late.key), 404, "NOT_FOUND");
    const some = await client.claim([late.key, claimed.key, "unknown"]);
    assert.equal(some.status, 207);
    assert.deepEqual([some.body.claimed, some.body.failed], [1, 2]);
    assert.deepEqual(
      some.body.failures.map(({ key, code }: { key: string; code: string }) => [key, code]),
      [
        [late.key, "NOT_FOUND"],
        ["unknown", "NOT_FOUND"],
      ],
    );
    const none = await client.claim([late.key]);
    assert.deepEqual([none.status, none.body.claimed, none.body.error.code], [404, 0, "NOT_FOUND"]);
    assert.equal(await deleteEndedFiles(app.app.deps), 1);
    assert.deepEqual(await logged("file.expired"), ['"hello.txt" was not claimed in time.']);
    await assertCountersMatch(app, tenant.projectId);
  });

  it("still expire when they were claimed", async () => {
    const file = await client.upload(smallBody, { routeSlug: "form", expiresIn: 90 });
    await client.claim([file.key]);
    app.clock.advance(89_999);
    assert.equal((await read(file.url)).status, 200);
    app.clock.advance(1);
    assert.equal((await read(file.url)).status, 404);
  });

  it("are confirmed files of the key's project and environment", async () => {
    const open = await client.request({ routeSlug: "form" });
    const file = await upload();
    const other = createUploadClient(app, (await app.createTenant("free")).live);
    const inTest = createUploadClient(app, tenant.test);
    for (const answer of [
      await client.claim([open.fileId]),
      await other.claim([file.key]),
      await inTest.claim([file.key]),
    ])
      assert.equal(answer.status, 404);
    assert.notEqual((await client.get(file.key)).body.file.claimBy, null);
    for (const keys of [[], Array.from({ length: 101 }, String), [""]]) {
      const answer = await client.claim(keys);
      assert.deepEqual([answer.status, answer.body.error.code], [400, "VALIDATION_ERROR"]);
    }
  });

  it("follow their route as it is when they are completed", async () => {
    const path = `routers/${routerId}`;
    for (const claimWithin of [0, CLAIM_WITHIN_MAX_SEC + 1, 1.5])
      expectInvalid(
        await app.call("PATCH", path, { key: tenant.live, body: { claimWithin } }),
        "claimWithin",
      );
    await app.call("PATCH", path, { key: tenant.live, body: { claimWithin: null } });
    assert.equal((await upload()).claimBy, null);
  });
});
