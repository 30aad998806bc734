import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { statement } from "../src/db/statement.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { expectError } from "./support/expect-error.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { type Answer, onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { type InitiatedUpload, partPieces, put, putParts, smallBody } from "./support/upload-client.ts";
import { createTenantClients, listLogTypes, listObjects, statusOf } from "./support/upload-life.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const { length: smallBytes } = smallBody;

onBothDatabases("the life of an upload", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  const createClient = () => createTenantClients(app);
  const reap = () => reapAbandonedUploads(app.app.deps);
  const logTypes = (fileId: string) => listLogTypes(app, fileId);
  const stateInStore = async (key: string) => {
    if (onDisk) return (await app.app.deps.db.all(listObjects, { key }))[0]?.state;
    return (await app.app.deps.store.head(key)) === null ? "gone" : "final";
  };

  describe("with many at once", () => {
    // The S3 server of the tests takes its time.
    const times = onDisk ? 50 : 10;
    const together = <T>(work: (i: number) => Promise<T>) =>
      Promise.all(Array.from({ length: times }, (_, i) => work(i)));
    const statuses = (answers: Answer[]) => answers.map((answer) => answer.status).sort();
    const oneOf = (winner: number, loser: number, count = times) =>
      [winner, ...new Array<number>(count - 1).fill(loser)].sort();

    it("many completes: one 200, the others 404, counted once", async () => {
      const { tenant, client } = await createClient();
      const upload = await client.request();
      await put(upload.uploadUrl, smallBody);
      const answers = await together(() => client.complete(upload.fileId));
      assert.deepEqual(statuses(answers), oneOf(200, 404));
      await assertCountersMatch(app, tenant.projectId, { live: 1 });
      assert.deepEqual(await logTypes(upload.fileId), ["upload.requested", "upload.completed"]);
    });

    it("many uploads, each completed twice: each with its own bytes and its winner's metadata", async () => {
      const { tenant, client } = await createClient();
      const count = 10;
      const forEach = <T>(work: (i: number) => Promise<T>) =>
        Promise.all(Array.from({ length: count }, (_, i) => work(i)));
      const uploads = await forEach((i) => client.request({ fileSize: i + 1 }));
      const bodyOf = (i: number) => Buffer.alloc(i + 1, i + 1);
      const sent = await forEach((i) => put(uploads[i]?.uploadUrl ?? "", bodyOf(i)));
      assert.deepEqual(new Set(sent.map(({ status }) => status)), new Set([200]));
      const winners = await forEach(async (i) => {
        const twice = [1, 2].map((round) => client.complete(uploads[i]?.fileId ?? "", { round, i }));
        const [won, lost] = (await Promise.all(twice)).sort((a, b) => a.status - b.status);
        assert.deepEqual([won?.status, lost?.status], [200, 404]);
        return won?.body.file;
      });
      await forEach(async (i) => {
        const { file } = (await client.get(uploads[i]?.key ?? "")).body;
        assert.deepEqual(file.metadata, winners[i].metadata);
        assert.deepEqual([file.size, file.metadata.i, file.status], [i + 1, i, "UPLOADED"]);
        const served = await fetch(winners[i].url);
        assert.deepEqual(Buffer.from(await served.arrayBuffer()), bodyOf(i));
      });
      await assertCountersMatch(app, tenant.projectId, { live: count });
    });

    it("many multipart completes: one 200, the others 404, counted once", async () => {
      const { tenant, client } = await createClient();
      const upload = await client.init();
      const parts = await putParts(upload, partPieces());
      const answers = await together(() => client.completeParts(upload, parts));
      assert.deepEqual(statuses(answers), oneOf(200, 404));
      await assertCountersMatch(app, tenant.projectId, { live: 1 });
    });

    const itOnDisk = onlyOnDisk("a bucket forgets the parts of what it has assembled");
    itOnDisk("multipart completes with right and wrong parts: only the right ones ever win", async () => {
      for (let round = 0; round < 5; round++) {
        const { client } = await createClient();
        const upload = await client.init();
        const parts = await putParts(upload, partPieces());
        const wrong = parts.map((part) => ({ ...part, etag: parts[0]?.etag ?? "" }));
        const isRight = (i: number) => i % 5 === round;
        const answers = await together((i) => client.completeParts(upload, isRight(i) ? parts : wrong));
        const winners = answers.flatMap(({ status }, i) => (status === 200 ? [i] : []));
        assert.deepEqual(winners.map(isRight), [true]);
        assert.ok(answers.every(({ status }) => [200, 404, 422].includes(status)));
      }
    });

    it("completes against aborts: one winner, and the file is either served or gone", async () => {
      for (let round = 0; round < 5; round++) {
        const { tenant, client } = await createClient();
        const upload = await client.init();
        const parts = await putParts(upload, partPieces());
        const answers = await together((i) =>
          i % 2 === round % 2 ? client.completeParts(upload, parts) : client.abort(upload),
        );
        assert.deepEqual(statuses(answers), oneOf(200, 404));
        const isServed = answers.some((answer) => answer.body.file !== undefined);
        await deletionsDone(app);
        assert.equal(await statusOf(client, upload.key), isServed ? "UPLOADED" : "404");
        const served = await fetch(`${app.url}/f/${upload.key}`);
        assert.equal(served.status, isServed ? 200 : 404);
        await served.body?.cancel();
        assert.equal(await stateInStore(upload.key), isServed ? "final" : "gone");
        await assertCountersMatch(app, tenant.projectId, { live: isServed ? 1 : 0 });
      }
    });

    it("completes against deletions: the bytes are gone in the end and counted as such", async () => {
      for (let round = 0; round < 5; round++) {
        const { tenant, client } = await createClient();
        const upload = await client.request();
        await put(upload.uploadUrl, smallBody);
        const answers = await together((i) =>
          i % 2 === round % 2 ? client.complete(upload.fileId) : client.remove(upload.key),
        );
        const completed = answers.filter((answer) => answer.body.file !== undefined).length;
        const removed = answers.filter((answer) => answer.body.ok === true).length;
        assert.ok(completed <= 1 && removed === 1, `${completed} completed, ${removed} removed`);
        assert.ok(answers.every((answer) => [200, 404].includes(answer.status)));
        await deletionsDone(app);
        assert.equal((await fetch(upload.cdnUrl)).status, 404);
        assert.equal(await stateInStore(upload.key), "gone");
        await assertCountersMatch(app, tenant.projectId, { live: completed });
      }
    });

    it("many deletions, single and bulk mixed: counted once", async () => {
      const { tenant, client } = await createClient();
      const [file, other] = [await client.upload(), await client.upload()];
      const answers = await together((i) =>
        i % 2 === 0 ? client.remove(file.key) : client.removeAll([other.key, file.key]),
      );
      const reclaimed = answers.reduce((sum, { body }) => sum + (body.reclaimedBytes ?? 0), 0);
      const singles = answers.filter(({ body }) => body.ok === true).length;
      assert.equal(reclaimed + singles * smallBytes, 2 * smallBytes);
      assert.equal((await client.usage()).storageBytes, 0);
      await assertCountersMatch(app, tenant.projectId, { live: 2 });
    });

    it("PUTs against a completion: what is served is one whole body, and stays", async () => {
      const { client } = await createClient();
      const upload = await client.request();
      const bodyOf = (i: number) => Buffer.from(String(i % 10).repeat(smallBytes));
      await put(upload.uploadUrl, bodyOf(0));
      const [done, ...sent] = await Promise.all([
        client.complete(upload.fileId),
        ...Array.from({ length: 20 }, async (_, i) => (await put(upload.uploadUrl, bodyOf(i))).status),
      ]);
      assert.equal(done.status, 200);
      assert.ok(sent.every((status) => [200, 403, 409].includes(status)));
      const text = await (await fetch(upload.cdnUrl)).text();
      assert.match(text, /^(\d)\1{10}$/);
      assert.equal(done.body.file.sha256, (await client.get(upload.key)).body.file.sha256);
      assert.equal((await put(upload.uploadUrl, bodyOf(7))).status, onDisk ? 403 : 200);
      assert.equal(await (await fetch(upload.cdnUrl)).text(), text);
    });

    it("the reaper against completions: one of them wins", async () => {
      const { tenant, client } = await createClient();
      const uploads = await Promise.all(Array.from({ length: 20 }, () => client.request()));
      for (const upload of uploads) await put(upload.uploadUrl, smallBody);
      app.clock.advance(dayMs + hourMs);
      const [, ...answers] = await Promise.all([
        reap(),
        ...uploads.map((upload) => client.complete(upload.fileId)),
        reap(),
      ]);
      const completed = answers.filter((answer) => typeof answer === "object" && answer.status === 200);
      await deletionsDone(app);
      for (const upload of uploads) {
        const status = await statusOf(client, upload.key);
        assert.ok(["UPLOADED", "FAILED"].includes(status));
        assert.equal((await fetch(upload.cdnUrl)).status, status === "UPLOADED" ? 200 : 404);
      }
      await assertCountersMatch(app, tenant.projectId, { live: completed.length });
    });
  });

  describe("repeated with an Idempotency-Key", () => {
    const findStored = statement((q, _: object) =>
      q.selectFrom("idempotency").select(["response"]).where("response", "is not", null),
    );

    it("gives the same upload with a URL that works, and stores no URL", async () => {
      const { tenant, client } = await createClient();
      const headers = { "idempotency-key": "request-1" };
      const first = await client.requestAnswer({}, headers);
      app.clock.advance(14 * minuteMs);
      const second = await client.requestAnswer({}, headers);
      assert.equal(second.headers.get("idempotency-replayed"), "true");
      assert.equal(second.body.fileId, first.body.fileId);
      assert.deepEqual(Object.keys(second.body).sort(), Object.keys(first.body).sort());
      if (onDisk) assert.notEqual(second.body.uploadUrl, first.body.uploadUrl);
      app.clock.advance(10 * minuteMs);
      await reap();
      // A bucket judges expiry by its own clock.
      if (onDisk)
        assert.equal((await put(first.body.uploadUrl, smallBody)).status, 403, "the first has expired");
      assert.equal((await put(second.body.uploadUrl, smallBody)).status, 200);
      assert.equal((await client.complete(first.body.fileId)).status, 200);
      await assertCountersMatch(app, tenant.projectId, { live: 1 });

      const third = await client.requestAnswer({}, headers);
      assert.deepEqual([third.status, third.body.key], [200, first.body.key], "also when it is over");
      assert.equal((await put(third.body.uploadUrl, smallBody)).status, onDisk ? 403 : 200);

      const init = await client.initAnswer({}, headers);
      const again: InitiatedUpload = (await client.initAnswer({}, headers)).body;
      assert.equal(again.uploadId, init.body.uploadId);
      const pieces = partPieces();
      const parts = await putParts(again, pieces);
      const body = { fileId: again.fileId, uploadId: again.uploadId, parts };
      const done = await client.post("upload/multipart/complete", body, headers);
      const repeated = await client.post("upload/multipart/complete", body, headers);
      assert.deepEqual([done.status, repeated.status], [200, 200]);
      assert.deepEqual(repeated.body, done.body);
      await assertCountersMatch(app, tenant.projectId, { live: 2 });

      for (const { response } of await app.app.deps.db.all(findStored, {}))
        assert.doesNotMatch(response ?? "", /\/u\/|X-Amz|uploadUrl/);
    });

    it("many at once make one upload", async () => {
      const { tenant, client } = await createClient();
      const headers = { "idempotency-key": "at-once" };
      const answers = await Promise.all(
        Array.from({ length: onDisk ? 50 : 5 }, () => client.requestAnswer({}, headers)),
      );
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
      assert.equal(new Set(answers.map((answer) => answer.body.fileId)).size, 1);
      assert.equal((await client.list()).body.files.length, 1);
      await assertCountersMatch(app, tenant.projectId);
    });

    it("signs nothing for an upload that was given up or deleted", async () => {
      const { client } = await createClient();
      const [reaped, deleted] = [{ "idempotency-key": "reaped" }, { "idempotency-key": "deleted" }];
      const { body } = await client.requestAnswer({}, reaped);
      await client.initAnswer({}, reaped);
      app.clock.advance(2 * hourMs);
      await reap();
      assert.equal(await statusOf(client, body.key), "FAILED");
      expectError(await client.requestAnswer({}, reaped), 404, "NOT_FOUND");
      expectError(await client.initAnswer({}, reaped), 404, "NOT_FOUND");
      await client.remove((await client.requestAnswer({}, deleted)).body.key);
      expectError(await client.requestAnswer({}, deleted), 404, "NOT_FOUND");
    });

    it("is refused with another body, and an abort replays", async () => {
      const { client } = await createClient();
      const headers = { "idempotency-key": "k" };
      await client.requestAnswer({}, headers);
      expectError(await client.requestAnswer({ fileName: "b" }, headers), 400, "VALIDATION_ERROR");
      const upload = await client.init();
      const ref = { fileId: upload.fileId, uploadId: upload.uploadId };
      for (let i = 0; i < 2; i++)
        assert.deepEqual((await client.post("upload/multipart/abort", ref, headers)).body, { ok: true });
    });
  });

  it("keeps the environments apart", async () => {
    const { tenant, client, test } = await createClient();
    const live = await client.upload();
    const before = await client.usage();
    const file = await test.upload();
    const open = await test.request();
    for (const key of [file.key, open.key]) {
      expectError(await client.get(key), 404, "NOT_FOUND");
      expectError(await client.remove(key), 404, "NOT_FOUND");
    }
    expectError(await client.complete(open.fileId), 404, "NOT_FOUND");
    expectError(await test.get(live.key), 404, "NOT_FOUND");
    assert.equal((await test.removeAll([live.key])).status, 404);
    await (await fetch(file.url)).text();
    assert.deepEqual(await client.usage(), before, "test traffic moves no live counter");
    const sandbox = await test.usage();
    assert.deepEqual(
      [sandbox.storageBytes, sandbox.uploads, sandbox.bandwidthBytes],
      [smallBytes, 1, smallBytes],
    );
    await assertCountersMatch(app, tenant.projectId, { live: 1, test: 1 });
  });
});
