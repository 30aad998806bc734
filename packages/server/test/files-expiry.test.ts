import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { FILE_LIFE_MAX_SEC } from "@upstow/contract";
import sharp from "sharp";
import { deleteEndedFiles } from "../src/files/delete-files.ts";
import { purgeProject } from "../src/files/purge-project.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { read } from "./support/private-reader.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

const picture = await sharp({ create: { width: 20, height: 10, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();
const hourSec = 3600;
const hourMs = hourSec * 1000;

onBothDatabases("files that expire", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let uploads = 0;
  before(async () => {
    app = await startApp({ database, env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
    app.clock.setTime(Date.now());
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
  });
  after(() => app.close());

  const upload = async (fields: object = {}, bytes: Uint8Array = smallBody) => {
    uploads++;
    return client.upload(bytes, fields);
  };
  const inTime = (ms: number) => new Date(app.clock.now() + ms).toISOString();
  const createRoute = async (slug: string, body: object) => {
    const path = `projects/${tenant.projectId}/routers`;
    const answer = await app.call("POST", path, { key: tenant.live, body: { slug, ...body } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.router;
  };
  const logOf = async (fileId: string) =>
    (await app.call("GET", `logs?type=file.expired&limit=100`, { key: tenant.live })).body.logs.filter(
      (log: { fileId: string }) => log.fileId === fileId,
    );

  it("say in requests, multipart uploads and batches when; seconds count from the call", async () => {
    const at = inTime(90_000);
    const requested = await client.request({ expiresIn: hourSec });
    const multipart = await client.init({ expiresAt: at });
    const expected = inTime(hourMs);
    app.clock.advance(5_000);
    await put(requested.uploadUrl, smallBody);
    assert.equal((await client.complete(requested.fileId)).body.file.expiresAt, expected);
    uploads++;
    assert.equal((await client.get(multipart.fileId)).body.file.expiresAt, at);
    await client.abort(multipart);
    const item = { fileName: "a", fileSize: 1, contentType: "a/b", routeSlug: "default" };
    const batch = await client.post("upload/batch/request", {
      files: [{ ...item, expiresIn: 60 }, item, { ...item, expiresIn: 60, expiresAt: at }],
    });
    assert.equal(batch.status, 207);
    assert.equal(batch.body.uploads[2].error.code, "VALIDATION_ERROR");
    const [first, second] = batch.body.uploads;
    assert.equal((await client.get(first.fileId)).body.file.expiresAt, inTime(60_000));
    assert.equal((await client.get(second.fileId)).body.file.expiresAt, null);
    await client.removeAll([first.fileId, second.fileId]);
    const listed = (await client.list("?limit=100")).body.files;
    assert.deepEqual(
      listed.map((file: { expiresAt: string; claimBy: null }) => [file.expiresAt, file.claimBy]),
      [[expected, null]],
    );
    const found = (await client.list("?name=hello")).body.files;
    assert.equal(found[0].expiresAt, expected);
  });

  it("have an end in the future, within 100 years, said once", async () => {
    const at = inTime(hourMs);
    for (const [fields, path] of [
      [{ expiresIn: 0 }, "expiresIn"],
      [{ expiresIn: 1.5 }, "expiresIn"],
      [{ expiresIn: FILE_LIFE_MAX_SEC + 1 }, "expiresIn"],
      [{ expiresIn: null }, "expiresIn"],
      [{ expiresAt: "tomorrow" }, "expiresAt"],
      [{ expiresAt: inTime(0) }, "expiresAt"],
      [{ expiresAt: "2500-01-01T00:00:00Z" }, "expiresAt"],
      [{ expiresIn: 60, expiresAt: at }, "expiresAt"],
    ] as const) {
      expectInvalid(await client.requestAnswer(fields as object), path);
      expectInvalid(await client.initAnswer(fields as object), path);
    }
    const never = { expiresIn: 60, expiresAt: null };
    expectInvalid(await client.requestAnswer(never as object), "expiresAt");
    const { key } = await upload();
    expectInvalid(await client.patch(key, { expiresIn: 60, expiresAt: null }), "expiresAt");
    expectInvalid(await client.patch(key, { expiresAt: inTime(-1) }), "expiresAt");
  });

  it("take their route's days unless the request says otherwise", async () => {
    const router = await createRoute("weekly", { expireAfterDays: 7 });
    assert.deepEqual([router.expireAfterDays, router.claimWithin], [7, null]);
    const [plain, own] = [
      await upload({ routeSlug: "weekly" }),
      await upload({ routeSlug: "weekly", expiresIn: 60 }),
    ];
    assert.equal(plain.expiresAt, inTime(7 * 24 * hourMs));
    assert.equal(own.expiresAt, inTime(60_000));
    const never = { routeSlug: "weekly", expiresAt: null } as object;
    assert.equal((await upload(never)).expiresAt, null);
    const multipart = await client.init(never);
    assert.equal((await client.get(multipart.fileId)).body.file.expiresAt, null);
    await client.abort(multipart);
    const item = { fileName: "a", fileSize: 1, contentType: "a/b", ...never };
    const { uploads: batch } = (await client.post("upload/batch/request", { files: [item] })).body;
    assert.equal((await client.get(batch[0].fileId)).body.file.expiresAt, null);
    await client.remove(batch[0].fileId);
    const imported = await client.post("upload/import", { url: "http://127.0.0.1:1/a", ...never });
    assert.equal(imported.body.file.expiresAt, null);
    await client.remove(imported.body.file.id);
    // The holder of a grant has no say: these fields are metadata.
    const { token } = (await client.post("upload/grants", { routeSlug: "weekly", maxFiles: 2 })).body.grant;
    const form = new FormData();
    form.append("expiresAt", "null");
    form.append("file", new File([smallBody], "a.txt", { type: "text/plain" }));
    const formed = await fetch(`${app.url}/form/${token}`, { method: "POST", body: form });
    const { files: arrived } = (await formed.json()) as { files: { expiresAt: string }[] };
    const said = `filename ${btoa("a.txt")},expiresAt ${btoa("null")},expiresIn ${btoa("60")}`;
    const opened = await fetch(`${app.url}/tus`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "tus-resumable": "1.0.0",
        "upload-length": "0",
        "upload-metadata": said,
      },
    });
    const byTus = (await client.get(opened.headers.get("upstow-file-id") ?? "")).body.file;
    for (const { expiresAt } of [...arrived, byTus]) assert.equal(expiresAt, inTime(7 * 24 * hourMs));
    uploads += 2;
    const path = `routers/${router.id}`;
    for (const [expireAfterDays, expected] of [
      [1, 1],
      [undefined, 1],
      [null, null],
    ] as const) {
      const changed = await app.call("PATCH", path, { key: tenant.live, body: { expireAfterDays } });
      assert.equal(changed.body.router.expireAfterDays, expected);
    }
    assert.equal((await upload({ routeSlug: "weekly" })).expiresAt, null);
    for (const expireAfterDays of [0, 36_501, 1.5])
      expectInvalid(
        await app.call("PATCH", path, { key: tenant.live, body: { expireAfterDays } }),
        "expireAfterDays",
      );
  });

  it("are changed by PATCH, which counts from itself", async () => {
    const { key, id } = await upload({ expiresIn: 60 });
    app.clock.advance(30_000);
    const later = await client.patch(key, { expiresIn: 60 });
    assert.equal(later.body.file.expiresAt, inTime(60_000));
    const { logs } = (await app.call("GET", "logs?type=file.updated", { key: tenant.live })).body;
    assert.deepEqual([logs[0].fileId, logs[0].message], [id, `"hello.txt" expires at ${inTime(60_000)}.`]);
    app.clock.advance(45_000);
    assert.equal((await client.patch(key, { metadata: {} })).body.file.expiresAt, inTime(15_000));
    assert.equal((await client.patch(key, { expiresAt: null })).body.file.expiresAt, null);
    app.clock.advance(hourMs);
    assert.equal((await client.get(key)).status, 200);
  });

  it("are gone at the moment on every path, before any job has run, word for word as unknown ones", async () => {
    const fields = { expiresIn: hourSec, fileName: "a.png", contentType: "image/png" };
    const open = await upload(fields, picture);
    const secret = await upload({ ...fields, access: "private", audience: "us" }, picture);
    const transform = async (key: string, delivery: string) =>
      (await client.post("transforms/image", { key, width: 5, format: "webp", delivery })).body.url;
    const { links } = (await client.post("files/links", { keys: [open.key, secret.key] })).body;
    const counted = (await client.post("files/links", { keys: [secret.key], maxUses: 50 })).body.links[0];
    const { grant } = (await client.post("files/grants", { audience: "us" })).body;
    const urls = [
      open.url,
      await transform(open.key, "public"),
      await transform(open.key, "signed"),
      await transform(secret.key, "signed"),
      links[0].url,
      links[1].url,
      counted.url,
      `${grant.baseUrl}/${secret.key}`,
    ];
    const ways: RequestInit[] = [
      {},
      { method: "HEAD" },
      { headers: { range: "bytes=0-3" } },
      { headers: { "if-none-match": "*" } },
    ];
    // Twice, so that every cache of rows and of whole responses is warm.
    for (const url of [...urls, ...urls])
      for (const way of ways) assert.ok((await read(url, way)).status < 400, url);
    app.clock.advance(hourMs - 1);
    for (const url of urls) assert.equal((await read(url)).status, 200, url);
    app.clock.advance(1);
    const unknown = await read(`${app.url}/f/${tenant.projectId}/default/unknown/a.png`);
    for (const url of urls) {
      for (const way of ways) assert.equal((await read(url, way)).status, 404, url);
      assert.equal((await read(url)).body.error.code, "NOT_FOUND");
    }
    assert.deepEqual((await read(open.url)).body, unknown.body);
    for (const { key, id } of [open, secret]) {
      for (const answer of [
        await client.get(key),
        await client.get(id),
        await client.patch(key, { expiresIn: 60 }),
        await client.remove(key),
        await client.removeAll([key]),
        await client.post("files/links", { keys: [key] }),
        await client.post("files/links/revoke", { keys: [key] }),
        await client.post("transforms/image", { key, width: 5 }),
      ])
        assert.deepEqual([answer.status, answer.body.error.code], [404, "NOT_FOUND"]);
    }
    for (const query of ["", "?name=a.png", "?status=UPLOADED", "?access=private"])
      assert.ok(!(await client.list(query)).body.files.some(({ id }: { id: string }) => id === open.id));
  });

  it("cannot be completed, signed or repeated any more, and free what they reserved", async () => {
    const fields = { expiresIn: hourSec };
    const headers = { "idempotency-key": `expiring-${database}` };
    const [single, multipart] = [
      (await client.requestAnswer(fields, headers)).body,
      await client.init(fields),
    ];
    await put(single.uploadUrl, smallBody);
    app.clock.advance(hourMs);
    expectError(await client.complete(single.fileId), 404, "NOT_FOUND");
    expectError(await client.sign(multipart, [1]), 404, "NOT_FOUND");
    expectError(await client.listParts(multipart), 404, "NOT_FOUND");
    expectError(await client.requestAnswer(fields, headers), 404, "NOT_FOUND");
    await deleteEndedFiles(app.app.deps);
    expectError(await client.get(single.fileId), 404, "NOT_FOUND");
    const { reservedBytes } = (await app.call("GET", "usage", { key: tenant.live })).body.usage;
    assert.equal(reservedBytes, 0);
  });

  it("are deleted by the job as by DELETE: bytes, storage and log, and only those whose time has come", async () => {
    await deleteEndedFiles(app.app.deps);
    const { storageBytes } = await client.usage();
    const [soon, late, kept] = [
      await upload({ expiresIn: 60 }),
      await upload({ expiresIn: hourSec }),
      await upload({ expiresIn: 60 }),
    ];
    await client.patch(kept.key, { expiresAt: null });
    assert.equal(await deleteEndedFiles(app.app.deps), 0);
    app.clock.advance(60_000);
    assert.equal(await deleteEndedFiles(app.app.deps), 1);
    assert.equal(await deleteEndedFiles(app.app.deps), 0);
    await deletionsDone(app);
    assert.equal((await client.usage()).storageBytes, storageBytes + 2 * smallBody.length);
    const [log] = await logOf(soon.id);
    assert.deepEqual(
      [log.key, log.message, log.data],
      [soon.key, '"hello.txt" expired.', { size: smallBody.length }],
    );
    for (const { key } of [late, kept]) assert.equal((await client.get(key)).status, 200);
    await assertCountersMatch(app, tenant.projectId, { live: uploads });
  });

  it("of a deleted project are deleted too", async () => {
    const other = await app.createTenant("free");
    const ofOther = createUploadClient(app, other.live);
    await ofOther.upload(smallBody, { expiresIn: 60 });
    const spare = { key: other.live, body: { name: "second" } };
    assert.equal((await app.call("POST", "projects", spare)).status, 201);
    await app.call("DELETE", `projects/${other.projectId}`, { key: other.live });
    app.clock.advance(60_000);
    assert.equal(await deleteEndedFiles(app.app.deps), 1);
    assert.equal((await purgeProject(app.app.deps, other.projectId)).deletedFiles, 0);
    await assertCountersMatch(app, other.projectId, { live: 1 });
  });
});

it("shared caches keep a file no longer than it lives, and hear of a new end", async () => {
  const app = await startApp({ env: { UPSTOW_CDN_PURGE: "http://127.0.0.1:9/purge" } });
  try {
    app.clock.setTime(Date.now());
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const fields = { fileName: "a.png", contentType: "image/png", expiresIn: hourSec };
    const { url, key } = await client.upload(picture, fields);
    const variant = await client.post("transforms/image", {
      key,
      width: 5,
      format: "webp",
      delivery: "public",
    });
    const lifetimes = async () =>
      Promise.all(
        [url, variant.body.url].map(async (at) => (await read(at)).headers.get("cdn-cache-control")),
      );
    assert.deepEqual(await lifetimes(), ["max-age=3600", "max-age=3600"]);
    app.clock.advance(3_590_500);
    assert.deepEqual(await lifetimes(), ["max-age=9", "max-age=9"]);
    const warnings = () => app.logLines.filter((line) => line.includes("the CDN did not purge")).length;
    const before = warnings();
    await client.patch(key, { expiresIn: 20 });
    assert.ok(warnings() > before, "the CDN was asked to drop what it keeps for longer");
    assert.deepEqual(await lifetimes(), ["max-age=20", "max-age=20"]);
    await client.patch(key, { expiresAt: null });
    assert.deepEqual(await lifetimes(), ["max-age=31536000", "max-age=31536000"]);
  } finally {
    await app.close();
  }
});
