import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { MB } from "@upstow/contract";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import {
  createUploadClient,
  partPieces,
  put,
  putParts,
  smallBody,
  type UploadClient,
} from "./support/upload-client.ts";

const completedFields = [
  ...["id", "key", "name", "size", "type", "url", "status", "access", "sha256", "metadata", "createdAt"],
  ...["expiresAt", "claimBy", "detectedType", "scan"],
].sort();

onBothDatabases("completing uploads", (database) => {
  let app: TestApp;
  let client: UploadClient;
  let stranger: UploadClient;
  let sandbox: UploadClient;
  before(async () => {
    app = await startApp({ database });
    const tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    sandbox = createUploadClient(app, tenant.test);
    stranger = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(() => app.close());

  it("answers with the file, its metadata and no updatedAt, and serves it", async () => {
    const upload = await client.request({ metadata: { a: 1 } });
    assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
    const done = await client.complete(upload.fileId);
    assert.equal(done.status, 200);
    assert.deepEqual(Object.keys(done.body), ["file"]);
    const { file } = done.body;
    assert.deepEqual(Object.keys(file).sort(), completedFields);
    assert.deepEqual(file, {
      id: upload.fileId,
      key: upload.key,
      name: "hello.txt",
      size: smallBody.length,
      type: "text/plain",
      url: upload.cdnUrl,
      status: "UPLOADED",
      access: "public",
      expiresAt: null,
      claimBy: null,
      detectedType: null,
      scan: null,
      sha256: onDisk ? createHash("sha256").update(smallBody).digest("hex") : null,
      metadata: { a: 1 },
      createdAt: file.createdAt,
    });
    assert.match(file.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(await (await fetch(file.url)).text(), smallBody.toString());
  });

  it("replaces the metadata where it is given, an empty object too, and keeps it where not", async () => {
    for (const [given, expected] of [
      [undefined, { a: 1 }],
      [{ b: 2 }, { b: 2 }],
      [{}, {}],
    ]) {
      const upload = await client.request({ metadata: { a: 1 } });
      await put(upload.uploadUrl, smallBody);
      const done = await client.complete(upload.fileId, given);
      assert.deepEqual(done.body.file.metadata, expected);
      assert.deepEqual((await client.get(upload.key)).body.file.metadata, expected);
    }
  });

  it("is 422 before the bytes are there, leaves the file open, and works after them", async () => {
    const upload = await client.request();
    for (let i = 0; i < 2; i++) expectError(await client.complete(upload.fileId), 422, "FILE_NOT_IN_STORAGE");
    assert.equal((await client.get(upload.key)).body.file.status, "UPLOADING");
    assert.equal((await fetch(upload.cdnUrl)).status, 404);
    await put(upload.uploadUrl, smallBody);
    assert.equal((await fetch(upload.cdnUrl)).status, 404, "received is not confirmed");
    assert.equal((await client.complete(upload.fileId)).status, 200);
    expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");
  });

  it("is the same 404 for unknown ids, other projects and the other environment", async () => {
    const upload = await client.request();
    await put(upload.uploadUrl, smallBody);
    const unknown = expectError(await client.complete("no-such-file"), 404, "NOT_FOUND");
    for (const other of [stranger, sandbox]) {
      assert.deepEqual(expectError(await other.complete(upload.fileId), 404, "NOT_FOUND"), unknown);
      expectError(await other.get(upload.key), 404, "NOT_FOUND");
    }
    assert.equal((await client.complete(upload.fileId)).status, 200);
  });

  it("refuses bad bodies", async () => {
    for (const body of [{}, { fileId: "" }, { fileId: 5 }, { fileId: null }])
      expectInvalid(await client.post("upload/complete", body), "fileId");
    expectInvalid(await client.complete("x", []), "metadata");
    expectInvalid(await client.complete("x", null), "metadata");
  });

  describe("multipart", () => {
    it("assembles the parts, answers like the single flow and serves the bytes", async () => {
      const pieces = partPieces();
      const upload = await client.init({ metadata: { a: 1 } });
      const done = await client.completeParts(upload, await putParts(upload, pieces), { b: 2 });
      assert.equal(done.status, 200, JSON.stringify(done.body));
      const { file } = done.body;
      assert.deepEqual(Object.keys(file).sort(), completedFields);
      assert.deepEqual([file.status, file.metadata, file.sha256], ["UPLOADED", { b: 2 }, null]);
      assert.equal(file.size, 10 * MB + 1000);
      const served = Buffer.from(await (await fetch(file.url)).arrayBuffer());
      assert.ok(served.equals(Buffer.concat(pieces)));
      expectError(await client.completeParts(upload, [{ partNumber: 1, etag: "x" }]), 404, "NOT_FOUND");
    });

    it("takes etags with and without quotes, and fewer parts than it offered", async () => {
      const upload = await client.init();
      const pieces = [randomBytes(10 * MB), randomBytes(1000)];
      const parts = await putParts(upload, pieces);
      const bare = parts.map(({ partNumber, etag }) => ({ partNumber, etag: etag.replaceAll('"', "") }));
      assert.match(parts[0]?.etag ?? "", /^"[0-9a-f]+"$/);
      assert.equal((await client.completeParts(upload, bare)).status, 200);
    });

    it("refuses empty, duplicate, descending and out-of-range part numbers", async () => {
      const upload = await client.init();
      const [one, two, three] = await putParts(upload, partPieces());
      assert.ok(one && two && three);
      const rows = [
        [],
        [one, one, two, three],
        [one, three, two],
        [one, two, { ...three, partNumber: 4 }],
        [{ ...one, partNumber: 0 }, two, three],
        [{ ...one, partNumber: -1 }, two, three],
      ];
      for (const parts of rows) expectInvalid(await client.completeParts(upload, parts), "parts");
      const fields = { fileId: upload.fileId, uploadId: upload.uploadId };
      const badShapes = [undefined, null, "x", [{}], [{ partNumber: 1 }], [{ partNumber: "1", etag: "x" }]];
      for (const parts of [...badShapes, [{ partNumber: 1.5, etag: "x" }]]) {
        const answer = await client.post("upload/multipart/complete", { ...fields, parts });
        assert.match(expectError(answer, 400, "VALIDATION_ERROR").message, /^parts/);
      }
      assert.equal((await client.completeParts(upload, [one, two, three])).status, 200);
    });

    it("is 422 for a missing part, a wrong etag and a wrong total, and stays open", async () => {
      const pieces = partPieces();
      const upload = await client.init();
      const parts = await putParts(upload, pieces.slice(0, 2));
      const [one, two] = parts;
      assert.ok(one && two);
      const claims = [
        [one, two, { partNumber: 3, etag: two.etag }],
        [one, { ...two, etag: one.etag }],
        [one, two],
        [one],
      ];
      for (const claim of claims)
        expectError(await client.completeParts(upload, claim), 422, "FILE_NOT_IN_STORAGE");
      assert.equal((await client.get(upload.key)).body.file.status, "UPLOADING");
      const whole = await putParts(upload, pieces);
      assert.equal((await client.completeParts(upload, whole)).status, 200);
    });

    it("is 404 for a wrong pair, and the two flows do not mix", async () => {
      const upload = await client.init();
      const parts = await putParts(upload, partPieces());
      const single = await client.request();
      await put(single.uploadUrl, smallBody);
      const open = expectError(await client.complete(upload.fileId), 422, "FILE_NOT_IN_STORAGE");
      assert.match(open.suggestion ?? "", /POST \/upload\/multipart\/complete/);
      for (const other of [stranger, sandbox])
        expectError(await other.complete(upload.fileId), 404, "NOT_FOUND");
      const pairs = [
        { ...upload, uploadId: "nope" },
        { ...upload, fileId: "nope" },
        { ...upload, fileId: single.fileId },
      ];
      for (const pair of pairs) {
        expectError(await client.completeParts(pair, parts), 404, "NOT_FOUND");
        expectError(await client.abort(pair), 404, "NOT_FOUND");
        expectError(await client.sign(pair, [1]), 404, "NOT_FOUND");
        expectError(await client.listParts(pair), 404, "NOT_FOUND");
      }
      for (const other of [stranger, sandbox]) {
        expectError(await other.completeParts(upload, parts), 404, "NOT_FOUND");
        expectError(await other.abort(upload), 404, "NOT_FOUND");
        expectError(await other.sign(upload, [1]), 404, "NOT_FOUND");
        expectError(await other.listParts(upload), 404, "NOT_FOUND");
      }
      assert.equal((await client.completeParts(upload, parts)).status, 200);
      expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");
    });

    it("never takes more bytes than the file was announced with", async () => {
      const upload = await client.init();
      const [first, second] = upload.parts;
      assert.ok(first && second);
      assert.equal((await put(second.uploadUrl, randomBytes(10 * MB))).status, 200);
      // A bucket takes it; the upload is then refused and aborted when it is to be completed.
      if (!onDisk) {
        const etags = await putParts(upload, [randomBytes(1001)]);
        const [late] = (await client.listParts(upload)).body.parts.slice(1);
        expectError(await client.completeParts(upload, [...etags, late]), 422, "FILE_NOT_IN_STORAGE");
        expectError(await client.listParts(upload), 404, "NOT_FOUND");
        return;
      }
      assert.equal((await put(first.uploadUrl, randomBytes(1001))).status, 403);
      assert.equal((await put(first.uploadUrl, randomBytes(1000))).status, 200);
      const listed = (await client.listParts(upload)).body.parts;
      assert.deepEqual(
        listed.map((part: { partNumber: number; size: number }) => [part.partNumber, part.size]),
        [
          [1, 1000],
          [2, 10 * MB],
        ],
      );
    });

    it("aborts: the record is gone, URLs are dead, an unknown pair is 404", async () => {
      const upload = await client.init();
      await putParts(upload, partPieces());
      const aborted = await client.abort(upload);
      assert.deepEqual([aborted.status, aborted.body], [200, { ok: true }]);
      const late = await put(upload.parts[0]?.uploadUrl ?? "", randomBytes(10));
      assert.equal(late.status, onDisk ? 403 : 404);
      expectError(await client.get(upload.key), 404, "NOT_FOUND");
      expectError(await client.abort(upload), 404, "NOT_FOUND");
      const { body } = await client.list("?limit=100");
      assert.ok(!body.files.some((file: { id: string }) => file.id === upload.fileId));
      for (const body of [{}, { fileId: "x" }, { uploadId: "x" }, { fileId: 1, uploadId: 2 }])
        expectError(await client.post("upload/multipart/abort", body), 400, "VALIDATION_ERROR");
    });

    it("lists what has arrived and signs the rest, so that an upload resumes", async () => {
      const pieces = partPieces();
      const upload = await client.init();
      const sent = await putParts(upload, pieces.slice(0, 1));
      const listed = await client.listParts(upload);
      assert.equal(listed.status, 200);
      const { parts, ...facts } = listed.body;
      const { fileId, uploadId, key } = upload;
      assert.deepEqual(facts, { fileId, uploadId, key, partSize: 5 * MB, partCount: 3 });
      const bareEtag = sent[0]?.etag.replaceAll('"', "");
      const { receivedAt } = parts[0];
      assert.deepEqual(parts, [{ partNumber: 1, etag: bareEtag, size: 5 * MB, receivedAt }]);

      app.clock.advance(61 * 60_000);
      // A bucket judges expiry by its own clock.
      if (onDisk)
        assert.equal((await put(upload.parts[1]?.uploadUrl ?? "", pieces[1] ?? smallBody)).status, 403);
      const signed = await client.sign(upload, [3, 2]);
      assert.deepEqual(Object.keys(signed.body), ["parts"]);
      assert.deepEqual(
        signed.body.parts.map((part: { partNumber: number }) => part.partNumber),
        [3, 2],
      );
      for (const { partNumber, uploadUrl } of signed.body.parts)
        assert.equal((await put(uploadUrl, pieces[partNumber - 1] ?? smallBody)).status, 200);
      const all = (await client.listParts(upload)).body.parts;
      assert.equal((await client.completeParts(upload, all)).status, 200);
    });

    it("signs only parts that the upload has", async () => {
      const upload = await client.init();
      expectInvalid(await client.sign(upload, [1, 99]), "partNumbers");
      expectInvalid(await client.sign(upload, [2, 1, 2]), "partNumbers");
      for (const numbers of [[4], [0], [1, 2, 5], [], ["1"], [1.5], 1])
        expectError(await client.sign(upload, numbers as number[]), 400, "VALIDATION_ERROR");
      expectError(
        await app.call("GET", `upload/multipart/${upload.fileId}`, { key: client.key }),
        400,
        "VALIDATION_ERROR",
      );
    });
  });

  describe("a PUT", () => {
    it("may be repeated until completion, the last complete body wins", async () => {
      const upload = await client.request();
      for (const text of ["first bytes", "other bytes"])
        assert.equal((await put(upload.uploadUrl, Buffer.from(text))).status, 200);
      await client.complete(upload.fileId);
      assert.equal(await (await fetch(upload.cdnUrl)).text(), "other bytes");
    });

    it("after completion, deletion or abort changes nothing, and is 403 or lands where nobody reads", async () => {
      const late = onDisk ? 403 : 200;
      const done = await client.request();
      await put(done.uploadUrl, smallBody);
      await client.complete(done.fileId);
      assert.equal((await put(done.uploadUrl, Buffer.from("EVIL  bytes"))).status, late);
      assert.equal(await (await fetch(done.cdnUrl)).text(), smallBody.toString());
      await client.remove(done.key);
      assert.equal((await put(done.uploadUrl, smallBody)).status, late);
      assert.equal((await fetch(done.cdnUrl)).status, 404);

      for (let i = 0; i < 10; i++) {
        const open = await client.request();
        if (i % 2 === 0) await put(open.uploadUrl, smallBody);
        assert.equal((await client.remove(open.key)).status, 200);
        assert.equal((await put(open.uploadUrl, smallBody)).status, late);
        expectError(await client.complete(open.fileId), 404, "NOT_FOUND");
        assert.equal((await fetch(open.cdnUrl)).status, 404);
      }
      const multipart = await client.init();
      const parts = await putParts(multipart, partPieces());
      assert.equal((await client.completeParts(multipart, parts)).status, 200);
      // What a bucket does with a late part is its own affair; the contract of the store looks at that.
      if (onDisk)
        assert.equal((await put(multipart.parts[0]?.uploadUrl ?? "", randomBytes(5 * MB))).status, 403);
    });

    it("keeps nothing of another type or length", async () => {
      const upload = await client.request();
      assert.equal((await put(upload.uploadUrl, smallBody, "text/html")).status, 403);
      assert.equal((await put(upload.uploadUrl, Buffer.concat([smallBody, smallBody]))).status, 403);
      assert.equal((await put(upload.uploadUrl, smallBody.subarray(1))).status, 403);
      expectError(await client.complete(upload.fileId), 422, "FILE_NOT_IN_STORAGE");
    });
  });
});
