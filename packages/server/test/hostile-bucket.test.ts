import assert from "node:assert/strict";
import { after, afterEach, before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "#kysely";
import { type HostileBucket, startHostileBucket } from "../../../test/support/hostile-bucket.ts";
import { statement } from "../src/db/statement.ts";
import { noteUsageDays } from "../src/projects/usage/usage-days.ts";
import { type ConsoleCall, createSessionToken, signInAs } from "./support/console-client.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import {
  createUploadClient,
  partPieces,
  put,
  putParts,
  smallBody,
  type UploadClient,
} from "./support/upload-client.ts";

const largest = "9223372036854775807";
const setStored = statement((q, p: { projectId: string }) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: sql`${sql.raw(largest)}` })
    .where("project_id", "=", p.projectId),
);
const setStoredOfMonth = statement((q, p: { projectId: string }) =>
  q
    .updateTable("usage_period")
    .set({ stored_bytes: sql`${sql.raw(largest)}`, bandwidth_bytes: sql`${sql.raw(largest)}` })
    .where("project_id", "=", p.projectId),
);
const setSize = statement((q, p: { id: string; sizeBytes: number }) =>
  q.updateTable("file").set({ size_bytes: p.sizeBytes }).where("id", "=", p.id),
);
const setEndpoint = statement((q, p: { projectId: string; endpoint: string }) =>
  q
    .updateTable("customer_store")
    .set({ endpoint: p.endpoint, updated_at: sql`updated_at + 1` })
    .where("project_id", "=", p.projectId),
);

onAnyDatabase("a customer's hostile bucket", (database) => {
  let bucket: HostileBucket;
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let owner: ConsoleCall;
  const path = () => `/projects/${tenant.projectId}/storage`;
  const input = () => ({
    endpoint: bucket.url,
    bucket: "files",
    accessKeyId: "key",
    secretAccessKey: "secret",
  });
  before(async () => {
    bucket = await startHostileBucket();
    app = await startApp({ database, env: { UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8" } });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    owner = await signInAs(app, tenant.accountId);
    assert.equal((await owner("PUT", path(), input())).status, 200);
  });
  afterEach(() => bucket.lie());
  after(async () => {
    await app?.close();
    await bucket?.stop();
  });

  it("stores no file of another size than was announced, in one piece or in parts", async () => {
    const single = await client.request();
    assert.equal((await put(single.uploadUrl, smallBody)).status, 200);
    const pieces = partPieces();
    const sizeBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const multipart = await client.init({ fileSize: sizeBytes });
    const parts = await putParts(multipart, pieces);
    const expectNothing = async () => {
      for (const { key } of [single, multipart])
        assert.equal((await client.get(key)).body.file.status, "UPLOADING");
      assert.deepEqual((await client.usage()).uploads, 0);
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    };
    for (const lie of [
      "absurd size",
      "absurd size of the final object",
      "another size of the final object",
    ] as const) {
      bucket.lie(lie);
      expectError(await client.complete(single.fileId), 422, "FILE_NOT_IN_STORAGE");
      await expectNothing();
    }
    bucket.lie("parts of absurd size");
    const claimed = [1, 2].map((partNumber) => ({ partNumber, etag: "x" }));
    expectError(await client.completeParts(multipart, claimed), 422, "FILE_NOT_IN_STORAGE");
    await expectNothing();
    assert.equal((await app.call("GET", "/healthz")).status, 200);

    bucket.lie();
    assert.equal((await client.complete(single.fileId)).body.file.size, smallBody.length);
    const again = await client.init({ fileSize: sizeBytes });
    const sent = await putParts(again, pieces);
    bucket.lie("absurd size of the final object");
    expectError(await client.completeParts(again, sent), 422, "FILE_NOT_IN_STORAGE");
    bucket.lie();
    assert.equal((await client.completeParts(again, sent)).body.file.size, sizeBytes);
    await assertCountersMatch(app, tenant.projectId, { live: 2 });
    assert.ok(parts.length > 1);
  });

  it("is unavailable, and no error of ours, where it talks nonsense", async () => {
    const multipart = await client.init();
    for (const lie of [
      "parts without end",
      "parts that stand still",
      "parts without numbers",
      "parts without a time",
      "XML without end",
      "XML that nests without end",
    ] as const) {
      bucket.lie(lie);
      expectError(await client.listParts(multipart), 503, "SERVICE_UNAVAILABLE");
      const parts = [{ partNumber: 1, etag: "x" }];
      expectError(await client.completeParts(multipart, parts), 503, "SERVICE_UNAVAILABLE");
    }
    for (const lie of ["huge upload id", "XML of 300 MB"] as const) {
      bucket.lie(lie);
      expectError(await client.initAnswer(), 503, "SERVICE_UNAVAILABLE");
    }
    for (const lie of ["no etag", "etag with line breaks in a copy", "huge etag in a copy"] as const) {
      bucket.lie();
      const single = await client.request();
      await put(single.uploadUrl, smallBody);
      bucket.lie(lie);
      expectError(await client.complete(single.fileId), 503, "SERVICE_UNAVAILABLE");
    }
  });

  it("fills no log and no page with its errors", async () => {
    const single = await client.request();
    const linesBefore = app.logLines.length;
    for (const lie of ["errors of 15 MB", "errors with long messages"] as const) {
      bucket.lie(lie);
      expectError(await client.complete(single.fileId), 503, "SERVICE_UNAVAILABLE");
      const refused = await owner("PUT", path(), input());
      expectInvalid(refused, "bucket");
      assert.ok(JSON.stringify(refused.body).length < 1000, JSON.stringify(refused.body).slice(0, 2000));
      const { probe } = (await owner("POST", `${path()}/probe`)).body;
      assert.equal(probe.ok, false);
      assert.ok(JSON.stringify(probe).length < 5000);
    }
    const lines = app.logLines.slice(linesBefore);
    assert.ok(lines.length > 0);
    for (const line of lines) assert.ok(line.length < 10_000, line.slice(0, 1000));
  });

  it("is left alone when whoever had it tried has gone", async () => {
    const other = await startHostileBucket();
    other.lie("no list of parts");
    const gone = new AbortController();
    const cookie = `upstow_session=${await createSessionToken(app, tenant.accountId)}`;
    const asked = fetch(`${app.url}/dashboard/api${path()}`, {
      method: "PUT",
      headers: { cookie, origin: app.url, "content-type": "application/json" },
      body: JSON.stringify({ ...input(), endpoint: other.url }),
      signal: gone.signal,
    });
    while (other.count("list-parts") === 0) await sleep(5);
    gone.abort();
    await assert.rejects(asked, { name: "AbortError" });
    // Its two objects are taken away, which is the end of it.
    while (other.count("delete-object") < 2) await sleep(5);
    assert.equal(other.count("list-parts"), 1);
    assert.equal((await owner("GET", path())).body.storage.endpoint, bucket.url);
    await other.stop();
  });

  it("is named by nothing but a plain host in the dashboard's policy", async () => {
    for (const host of ["a;script-src", "a,b", "a'b'", "*.example.com", "a$&b", 'a"b', "a*"])
      expectInvalid(await owner("PUT", path(), { ...input(), endpoint: `https://${host}` }), "endpoint");

    const cookie = `upstow_session=${await createSessionToken(app, tenant.accountId)}`;
    const load = async () => {
      const page = await app.call("GET", "/dashboard", { headers: { cookie } });
      const { storageOrigins } = (await owner("GET", "/projects")).body;
      return { policy: page.headers.get("content-security-policy") ?? "", text: page.body, storageOrigins };
    };
    const honest = await load();
    assert.ok(honest.policy.endsWith(` ${bucket.url}`), honest.policy);
    const endpoint = "https://evil;script-src,*'x'\"y";
    await app.app.deps.db.run(setEndpoint, { projectId: tenant.projectId, endpoint });
    const { policy, text, storageOrigins } = await load();
    assert.equal(policy, honest.policy.replace(` ${bucket.url}`, ""));
    assert.ok(!text.includes("evil"));
    assert.deepEqual(storageOrigins, []);
    await app.app.deps.db.run(setEndpoint, { projectId: tenant.projectId, endpoint: bucket.url });
  });

  it("has left rows of absurd sizes, and all pages are shown all the same", async () => {
    const { db } = app.app.deps;
    const victim = await app.createTenant("pro");
    const uploads = createUploadClient(app, victim.live);
    const { key, id } = await uploads.upload();
    await db.run(setSize, { id, sizeBytes: Number.MAX_SAFE_INTEGER });
    await db.run(setStored, { projectId: victim.projectId });
    await db.run(setStoredOfMonth, { projectId: victim.projectId });
    await db.run(setStored, { projectId: tenant.projectId });
    await noteUsageDays(app.app.deps);

    const operator = await signInAs(app, app.owner.accountId);
    const member = await signInAs(app, victim.accountId);
    const most = Number.MAX_SAFE_INTEGER;
    const status = await operator("GET", "/admin/status");
    assert.deepEqual([status.status, status.body.storedBytes], [200, most]);
    const accounts = await operator("GET", "/admin/accounts");
    assert.equal(accounts.status, 200, JSON.stringify(accounts.body));
    const stored = accounts.body.accounts.map((account: { storedBytes: number }) => account.storedBytes);
    assert.deepEqual(
      stored.sort((a: number, b: number) => a - b),
      [0, most, most],
    );
    assert.ok((await uploads.usage()).storageBytes >= most);
    const calls = ["usage/history", "files", `files/${encodeURIComponent(key)}`];
    for (const call of calls)
      assert.equal((await app.call("GET", call, { key: victim.live })).status, 200, call);
    const days = await member("GET", `/in/${victim.projectId}/live/usage/days`);
    assert.equal(days.status, 200, JSON.stringify(days.body));
    await member("DELETE", `/projects/${victim.projectId}`);
    const deleted = await member("GET", "/projects/deleted");
    assert.deepEqual([deleted.status, deleted.body.projects?.[0]?.storedBytes], [200, most]);
  });
});
