import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { statement } from "../src/db/statement.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { StorageUnavailable } from "../src/storage/object-store.ts";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import {
  createUploadClient,
  partPieces,
  put,
  putParts,
  smallBody,
  type UploadClient,
} from "./support/upload-client.ts";

const findDeletion = statement((q, p: { key: string }) =>
  q.selectFrom("storage_deletion").selectAll().where("key", "=", p.key),
);

describe("files in a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();

  onAnyDatabase("through the service", (database) => {
    let app: TestApp;
    let client: UploadClient;
    before(async () => {
      app = await startApp({ database, env: await s3.createEnv() });
      client = createUploadClient(app, (await app.createTenant("pro")).live);
    });
    after(() => app.close());

    it("takes a single upload, serves it whole and in ranges, and deletes it", async () => {
      const upload = await client.request({ fileName: "größe 1.txt" });
      assert.ok(upload.uploadUrl.startsWith(s3.server.endpoint));
      expectError(await client.complete(upload.fileId), 422, "FILE_NOT_IN_STORAGE");
      assert.equal((await put(upload.uploadUrl, smallBody, "text/html")).status, 403);
      assert.equal((await put(upload.uploadUrl, Buffer.from("short"))).status, 403);
      assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
      const done = await client.complete(upload.fileId);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      const { file } = done.body;
      assert.equal(file.size, smallBody.length);
      assert.equal(file.sha256, null);

      const whole = await fetch(file.url);
      assert.equal(whole.headers.get("content-type"), "text/plain");
      assert.equal(await whole.text(), smallBody.toString());
      const etag = whole.headers.get("etag") ?? "";
      assert.equal((await fetch(file.url, { headers: { "if-none-match": etag } })).status, 304);
      const range = await fetch(file.url, { headers: { range: "bytes=2-4" } });
      assert.equal(range.status, 206);
      assert.equal(range.headers.get("content-range"), `bytes 2-4/${smallBody.length}`);
      assert.equal(await range.text(), smallBody.toString().slice(2, 5));
      assert.equal(
        (await fetch(file.url, { method: "HEAD" })).headers.get("content-length"),
        `${smallBody.length}`,
      );

      assert.equal((await put(upload.uploadUrl, Buffer.from("HELLO BYTES"))).status, 200);
      assert.equal(await (await fetch(file.url)).text(), smallBody.toString());
      expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");

      assert.equal((await client.remove(file.key)).status, 200);
      assert.equal((await fetch(file.url)).status, 404);
      assert.equal(await app.app.deps.store.findReceived(file.key), null);
    });

    it("takes a multipart upload that is resumed, and serves it across its parts", async () => {
      const pieces = partPieces();
      const whole = Buffer.concat(pieces);
      const upload = await client.init({ fileSize: whole.length });
      const [first] = await putParts(upload, pieces.slice(0, 1));
      const received = await client.listParts(upload);
      assert.deepEqual(
        received.body.parts.map((part: { partNumber: number; size: number }) => [part.partNumber, part.size]),
        [[1, pieces[0]?.length]],
      );
      const later = app.clock.now() + 2 * 3_600_000;
      await reapAbandonedUploads({ ...app.app.deps, now: () => later });
      const signed = await client.sign(upload, [2, 3]);
      const rest = await Promise.all(
        signed.body.parts.map(
          async ({ partNumber, uploadUrl }: { partNumber: number; uploadUrl: string }) => {
            const sent = await fetch(uploadUrl, {
              method: "PUT",
              body: new Uint8Array(pieces[partNumber - 1] ?? []),
            });
            return { partNumber, etag: sent.headers.get("etag") ?? "" };
          },
        ),
      );
      assert.ok(first);
      expectError(await client.completeParts(upload, [first]), 422, "FILE_NOT_IN_STORAGE");
      const done = await client.completeParts(upload, [first, ...rest]);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      const { file } = done.body;
      assert.ok(whole.equals(Buffer.from(await (await fetch(file.url)).arrayBuffer())));
      const seam = pieces[0]?.length ?? 0;
      const range = await fetch(file.url, { headers: { range: `bytes=${seam - 5}-${seam + 4}` } });
      assert.deepEqual(Buffer.from(await range.arrayBuffer()), whole.subarray(seam - 5, seam + 5));
      assert.equal((await client.remove(file.key)).status, 200);
      assert.equal((await fetch(file.url)).status, 404);
    });

    it("aborts a multipart upload, and says which part is too small", async () => {
      const upload = await client.init({ fileSize: 10_485_761 });
      const parts = await putParts(upload, [randomBytes(1000), randomBytes(10_484_761)]);
      expectError(await client.completeParts(upload, parts), 400, "VALIDATION_ERROR");
      assert.equal((await client.abort(upload)).status, 200);
      expectError(await client.completeParts(upload, parts), 404, "NOT_FOUND");
    });

    it("removes parts that exceed the file, and says how to begin again", async () => {
      const upload = await client.init({ fileSize: 10_485_761 });
      const parts = await putParts(upload, [randomBytes(5_242_880), randomBytes(5_242_882)]);
      for (let call = 1; call <= 2; call++) {
        const { suggestion } = expectError(
          await client.completeParts(upload, parts),
          422,
          "FILE_NOT_IN_STORAGE",
        );
        assert.match(suggestion ?? "", /\/upload\/multipart\/abort, then start again/);
      }
      assert.equal((await client.abort(upload)).status, 200);
    });

    it("leaves no bytes behind when a file is deleted while its bytes are made final", async () => {
      const upload = await client.request();
      assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
      const [copying, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      s3.proxy.setFaults(({ headers }) => {
        if (!("x-amz-copy-source" in headers)) return null;
        copying.resolve();
        return { kind: "wait", until: goOn.promise };
      });
      const completing = client.complete(upload.fileId);
      await copying.promise;
      // Its deletion finds no final object yet.
      assert.equal((await client.remove(upload.key)).status, 200);
      // As if the copy had begun before that: the bucket's own view of the source is what it was.
      assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
      goOn.resolve();
      expectError(await completing, 404, "NOT_FOUND");
      s3.proxy.setFaults(() => null);
      assert.equal(await app.app.deps.store.head(upload.key), null);
      assert.equal(await app.app.deps.store.findReceived(upload.key), null);
      assert.equal((await fetch(upload.cdnUrl)).status, 404);
    });

    it("lets nobody who was too slow to delete touch the claim of another instance", async () => {
      const file = await client.upload();
      const { deps } = app.app;
      s3.proxy.setFaults(() => ({ kind: "answer", status: 403 }));
      assert.equal((await client.remove(file.key)).status, 200);
      /** Later than any lease, so that whatever the service itself does meanwhile, this one claims the row. */
      const later = (minutes: number) => ({ ...deps, now: () => deps.now() + minutes * 60_000 });
      const find = () => deps.db.get(findDeletion, { key: file.key });
      const [claimed, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = runDeletions({
        ...later(2),
        stores: {
          async get(name) {
            claimed.resolve();
            await goOn.promise;
            return deps.stores.get(name);
          },
        },
      });
      await claimed.promise;
      await runDeletions(later(4));
      const row = await find();
      assert.ok(row);
      goOn.resolve();
      await slow;
      assert.deepEqual(await find(), row);
      s3.proxy.setFaults(() => null);
      await runDeletions(later(120));
      assert.equal(await find(), null);
      assert.equal(await deps.store.head(file.key), null);
    });

    it("is done with every deletion but those that the bucket refuses", async () => {
      const { deps } = app.app;
      const find = async (key: string) => (await deps.db.get(findDeletion, { key })) !== null;
      const [held, other] = [await client.upload(), await client.upload()];
      const [first, second] = [await client.init(), await client.init()];
      const refuse = (key: string) => {
        const error = `<Error><Key>${deps.config.s3?.prefix}f/${key}</Key><Code>AccessDenied</Code></Error>`;
        return { kind: "answer", status: 200, body: `<DeleteResult>${error}</DeleteResult>` } as const;
      };
      s3.proxy.setFaults(({ method, url }) => {
        if (method === "POST") return { ...refuse(held.key), isForwarded: true };
        return method === "DELETE" && url?.includes(first.uploadId) ? { kind: "answer", status: 403 } : null;
      });
      const answer = await client.removeAll([held, other, first, second].map(({ key }) => key));
      assert.equal(answer.body.deleted, 4);
      assert.deepEqual(await Promise.all([held, other, first, second].map(({ key }) => find(key))), [
        true,
        false,
        true,
        false,
      ]);
      s3.proxy.setFaults(() => null);
      await runDeletions({ ...deps, now: () => deps.now() + 120 * 60_000 });
      for (const { key } of [held, first]) assert.equal(await find(key), false);
    });

    it("answers 503 with nothing half done while the bucket is away, and goes on when it is back", async () => {
      const upload = await client.request();
      assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
      const file = await client.upload();
      s3.proxy.setFaults(() => ({ kind: "answer", status: 503 }));
      const later = app.clock.now() + 3_600_000;
      const reaping = reapAbandonedUploads({ ...app.app.deps, now: () => later });
      await assert.rejects(reaping, StorageUnavailable);
      const refused = await client.complete(upload.fileId);
      assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
      expectError(refused, 503, "SERVICE_UNAVAILABLE");
      assert.equal((await fetch(file.url)).status, 503);
      const degraded = await app.call("GET", "/readyz");
      assert.deepEqual(
        [degraded.status, degraded.body],
        [200, { status: "degraded", dependencies: { database: "ok", storage: "unavailable" } }],
      );
      assert.match(
        (await app.call("GET", "/metrics")).body,
        /^upstow_dependency_up\{dependency="storage"\} 0$/m,
      );
      assert.equal((await client.list()).status, 200, "the database alone is enough for it");
      assert.equal((await fetch(`${app.url}/healthz`)).status, 200);
      s3.proxy.setFaults(() => null);
      assert.equal((await client.complete(upload.fileId)).status, 200);
      assert.equal((await app.call("GET", "/readyz")).body.status, "ready");
      assert.equal(await (await fetch(file.url)).text(), smallBody.toString());
      const lines = app.logLines.join("");
      for (const secret of [s3.server.secretAccessKey, "X-Amz-Signature="])
        assert.ok(!lines.includes(secret));
    });
  });

  it("starts without a bucket that can be used, and says so before anybody uploads", {
    timeout: 60_000,
  }, async (t) => {
    const env = { ...(await s3.createEnv()), UPSTOW_S3_BUCKET: "there-is-no-such-bucket" };
    const app = await startApp({ env });
    t.after(() => app.close());
    const isSaid = (line: string) => /the bucket returned 404.*the bucket cannot be used/.test(line);
    while (!app.logLines.some(isSaid)) await sleep(10, undefined, { signal: t.signal });
    assert.equal((await app.call("GET", "/readyz")).body.dependencies.storage, "unavailable");
  });

  it("sends readers to the bucket where the operator wants it, with safe headers and not for long", async () => {
    const app = await startApp({
      database: "sqlite",
      env: { ...(await s3.createEnv()), UPSTOW_S3_DELIVERY: "redirect" },
    });
    try {
      const client = createUploadClient(app, (await app.createTenant("pro")).live);
      const fields = { fileName: "ä.html", contentType: "text/html" };
      const file = await client.upload(smallBody, fields);
      const answer = await fetch(file.url, { redirect: "manual" });
      assert.equal(answer.status, 302);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.equal(answer.headers.get("etag"), null);
      const address = new URL(answer.headers.get("location") ?? "");
      assert.equal(address.origin, s3.server.endpoint);
      assert.equal(address.searchParams.get("X-Amz-Expires"), "60");

      const served = await fetch(file.url, { headers: { range: "bytes=0-4" } });
      assert.equal(served.status, 206);
      assert.equal(await served.text(), smallBody.toString().slice(0, 5));
      assert.match(served.headers.get("content-disposition") ?? "", /^attachment; .*%C3%A4\.html$/);
      const head = await fetch(file.url, { method: "HEAD", redirect: "manual" });
      assert.equal(head.status, 200);
      const etag = head.headers.get("etag") ?? "";
      assert.equal(served.headers.get("etag"), etag);
      assert.equal((await fetch(file.url, { headers: { "if-none-match": etag } })).status, 304);

      assert.equal((await client.remove(file.key)).status, 200);
      assert.equal((await fetch(address)).status, 404);
      assert.equal((await fetch(file.url)).status, 404);
    } finally {
      await app.close();
    }
  });
});
