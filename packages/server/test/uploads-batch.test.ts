import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { RATE_LIMITS, TIERS, UPLOAD_BATCH_MAX } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { type Answer, onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

const wanted = {
  fileName: "hello.txt",
  fileSize: smallBody.length,
  contentType: "text/plain",
  routeSlug: "default",
};

const forgetAnswers = statement((q, p: { before: number }) =>
  q
    .updateTable("idempotency")
    .set({ status: null, response: null, lease_until: p.before, created_at: p.before })
    .where("status", "is not", null),
);

onBothDatabases("batches of uploads", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
  });
  after(() => app.close());

  const request = (files: unknown, headers = {}): Promise<Answer> =>
    client.post("upload/batch/request", { files }, headers);
  const complete = (files: unknown, headers = {}): Promise<Answer> =>
    client.post("upload/batch/complete", { files }, headers);
  const codes = (items: { error?: { code: string } }[]) => items.map(({ error }) => error?.code ?? "ok");

  it("requests and completes many files with two calls", async () => {
    const names = Array.from({ length: UPLOAD_BATCH_MAX }, (_, i) => `file-${i}.txt`);
    const asked = await request(names.map((fileName) => ({ ...wanted, fileName, metadata: { fileName } })));
    assert.equal(asked.status, 200);
    assert.deepEqual(Object.keys(asked.body), ["uploads"]);
    const { uploads } = asked.body;
    assert.deepEqual(Object.keys(uploads[0]), ["index", "fileId", "uploadUrl", "key", "cdnUrl"]);
    assert.deepEqual(
      uploads.map((upload: { index: number; key: string }) => [upload.index, upload.key.split("/").at(-1)]),
      names.map((name, index) => [index, name]),
    );
    for (const { uploadUrl } of uploads) assert.equal((await put(uploadUrl, smallBody)).status, 200);
    const before = await client.usage();
    const done = await complete(
      uploads.map(({ fileId }: { fileId: string }, i: number) =>
        i === 0 ? { fileId, metadata: { first: true } } : { fileId },
      ),
    );
    assert.equal(done.status, 200);
    assert.deepEqual(Object.keys(done.body), ["files"]);
    for (const [i, { index, file }] of done.body.files.entries()) {
      assert.deepEqual([index, file.name, file.status], [i, names[i], "UPLOADED"]);
      assert.deepEqual(file.metadata, i === 0 ? { first: true } : { fileName: names[i] });
      assert.equal("updatedAt" in file, false);
    }
    assert.equal((await client.usage()).uploads - before.uploads, names.length);
    assert.equal(await (await fetch(done.body.files[99].file.url)).text(), smallBody.toString());
  });

  it("judges every file by itself: 207 where some fail", async () => {
    const asked = await request([
      wanted,
      { ...wanted, fileName: "" },
      { ...wanted, routeSlug: "unknown" },
      "no object",
      { ...wanted, fileSize: 600_000_000 },
      null,
      wanted,
    ]);
    assert.equal(asked.status, 207);
    assert.deepEqual(codes(asked.body.uploads), [
      ...["ok", "VALIDATION_ERROR", "NOT_FOUND", "VALIDATION_ERROR"],
      ...["TIER_LIMIT_EXCEEDED", "VALIDATION_ERROR", "ok"],
    ]);
    assert.deepEqual(
      asked.body.uploads.map((item: { index: number }) => item.index),
      [0, 1, 2, 3, 4, 5, 6],
    );
    assert.equal(asked.body.uploads[1].error.details[0].path, "fileName");

    const [first, last] = [asked.body.uploads[0], asked.body.uploads[6]];
    await put(first.uploadUrl, smallBody);
    const done = await complete([{ fileId: first.fileId }, { fileId: last.fileId }, { fileId: "none" }, {}]);
    assert.equal(done.status, 207);
    assert.deepEqual(codes(done.body.files), ["ok", "FILE_NOT_IN_STORAGE", "NOT_FOUND", "VALIDATION_ERROR"]);
  });

  it("answers with the first error where none succeeds, beside the items", async () => {
    const asked = await request([{ ...wanted, routeSlug: "unknown" }, { fileName: 1 }]);
    assert.equal(asked.status, 404);
    assert.deepEqual(codes(asked.body.uploads), ["NOT_FOUND", "VALIDATION_ERROR"]);
    assert.deepEqual(asked.body.error, asked.body.uploads[0].error);
    const done = await complete([{ fileId: 7 }, { fileId: "none" }]);
    assert.equal(done.status, 400);
    assert.deepEqual(codes(done.body.files), ["VALIDATION_ERROR", "NOT_FOUND"]);
    assert.equal(done.body.error.code, "VALIDATION_ERROR");
  });

  it("refuses the call only for `files` itself", async () => {
    for (const call of [request, complete]) {
      expectInvalid(await call(undefined), "files");
      expectInvalid(await call("text"), "files");
      const none = await call([]);
      expectInvalid(none, "files");
      assert.equal(none.body.error.message, "files must have at least 1 item");
      const tooMany = await call(Array(UPLOAD_BATCH_MAX + 1).fill(wanted));
      expectInvalid(tooMany, "files");
      assert.equal(tooMany.body.error.message, `files must have at most ${UPLOAD_BATCH_MAX} items`);
    }
  });

  it("completes a file once, however often a batch names it", async () => {
    const asked = await request([wanted]);
    const [{ fileId, uploadUrl }] = asked.body.uploads;
    await put(uploadUrl, smallBody);
    const done = await complete([{ fileId }, { fileId }, { fileId }]);
    assert.equal(done.status, 207);
    assert.equal(codes(done.body.files).filter((code) => code === "ok").length, 1);
    expectErrorItem(await complete([{ fileId }]), 404, "NOT_FOUND");
  });

  it("never overshoots a quota: the files that fit are granted", async () => {
    const free = createUploadClient(app, (await app.createTenant("free")).live);
    const left = 30;
    const places = (TIERS.free.uploadsPerMonth ?? 0) - left;
    for (let taken = 0; taken < places; taken += 97) {
      const files = Array(Math.min(97, places - taken)).fill(wanted);
      assert.equal((await free.post("upload/batch/request", { files })).status, 200);
    }
    const last = await free.post("upload/batch/request", { files: Array(100).fill(wanted) });
    assert.equal(last.status, 207);
    const granted = codes(last.body.uploads).filter((code) => code === "ok").length;
    assert.equal(granted, left);
    assert.deepEqual([...new Set(codes(last.body.uploads))].sort(), ["TIER_LIMIT_EXCEEDED", "ok"]);
  });

  it("replays a repeated call, with URLs that are signed afresh", async () => {
    const headers = { "idempotency-key": "batch-1" };
    const files = [wanted, { ...wanted, routeSlug: "unknown" }];
    const [once, again] = [await request(files, headers), await request(files, headers)];
    assert.deepEqual([once.status, again.status], [207, 207]);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    const [first, repeated] = [once.body.uploads[0], again.body.uploads[0]];
    assert.equal(repeated.fileId, first.fileId);
    assert.deepEqual(again.body.uploads[1], once.body.uploads[1]);
    assert.equal((await put(repeated.uploadUrl, smallBody)).status, 200);
    const completion = [{ fileId: first.fileId }];
    const done = await complete(completion, headers);
    const replayed = await complete(completion, headers);
    assert.deepEqual([done.status, replayed.status], [200, 200]);
    assert.deepEqual(replayed.body, done.body);
  });

  it("returns what a call completed that died before it could answer", async () => {
    const headers = { "idempotency-key": "batch-died" };
    const { uploads } = (await request([wanted, wanted])).body;
    for (const { uploadUrl } of uploads) await put(uploadUrl, smallBody);
    const completion = uploads.map(({ fileId }: { fileId: string }) => ({ fileId }));
    // One of the two was completed, and nothing recorded, when the process was killed.
    assert.equal((await complete(completion.slice(0, 1))).status, 200);
    assert.equal((await complete(completion, headers)).status, 207);
    await app.app.deps.db.run(forgetAnswers, { before: Date.now() - 120_000 });
    const again = await complete(completion, headers);
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.deepEqual(codes(again.body.files), ["ok", "ok"]);
    expectErrorItem(await complete(completion.slice(0, 1)), 404, "NOT_FOUND");
  });

  it("replays the files that are left where another one was deleted", async () => {
    const headers = { "idempotency-key": "batch-2" };
    const files = [wanted, wanted];
    const [kept, gone] = (await request(files, headers)).body.uploads;
    assert.equal(
      (await app.call("DELETE", `files/${encodeURIComponent(gone.key)}`, { key: tenant.live })).status,
      200,
    );
    const again = await request(files, headers);
    assert.equal(again.status, 200);
    assert.equal(again.body.uploads[0].fileId, kept.fileId);
    assert.deepEqual(codes(again.body.uploads), ["ok", "NOT_FOUND"]);
  });

  it("is for keys of the project and environment only", async () => {
    const asked = await request([wanted]);
    const [{ fileId, uploadUrl }] = asked.body.uploads;
    await put(uploadUrl, smallBody);
    const sandbox = createUploadClient(app, tenant.test);
    expectErrorItem(await sandbox.post("upload/batch/complete", { files: [{ fileId }] }), 404, "NOT_FOUND");
    expectError(
      await app.call("POST", "upload/batch/request", { body: { files: [wanted] } }),
      401,
      "UNAUTHORIZED",
    );
  });
});

/** Where nothing succeeded, the envelope stands beside the items. */
function expectErrorItem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status);
  assert.equal(answer.body.error.code, code);
}

onBothDatabases("the rate of batches", (database) => {
  it("counts one point a call", async () => {
    const app = await startApp({ database, keepRateLimits: true });
    try {
      const { live } = await app.createTenant("pro");
      const body = { files: Array(50).fill(wanted) };
      const answer = await app.call("POST", "upload/batch/request", { key: live, body });
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("ratelimit") ?? "", new RegExp(`r=${RATE_LIMITS.upload - 1};`));
    } finally {
      await app.close();
    }
  });
});
