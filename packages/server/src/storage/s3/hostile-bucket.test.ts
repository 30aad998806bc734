import assert from "node:assert/strict";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type HostileBucket, startHostileBucket } from "../../../../../test/support/hostile-bucket.ts";
import { StorageUnavailable } from "../object-store.ts";
import { createS3Store, type S3Store, type S3StoreOptions } from "./s3-store.ts";

const key = "prj/route/id/file.txt";
const body = Buffer.from("ten bytes!");
const sizeBytes = body.length;

/** Where a test ends by a deadline of the store, this is it. */
const soonMs = 200;
const patient = { attempts: 2, baseDelayMs: 1, maxDelayMs: 1, giveUpAfterMs: 10_000 };

describe("a hostile bucket", { timeout: 120_000 }, () => {
  let bucket: HostileBucket;
  before(async () => {
    bucket = await startHostileBucket();
  });
  afterEach(() => bucket.lie());
  after(() => bucket.stop());

  const open = (options: Partial<S3StoreOptions> = {}) =>
    createS3Store({
      name: "s3",
      bucket: "files",
      endpoint: bucket.url,
      publicEndpoint: bucket.url,
      region: "us-east-1",
      accessKeyId: "key",
      secretAccessKey: "secret",
      forcePathStyle: true,
      prefix: "",
      headersOf: (contentType) => ({ contentType }),
      retry: patient,
      attemptDeadlineMs: 2000,
      ...options,
    });
  const stage = async (store = open()) => {
    const url = await store.presignPut({ key, contentType: "text/plain", sizeBytes, expiresInSec: 60 });
    await fetch(url, { method: "PUT", body, headers: { "content-type": "text/plain" } });
    return store;
  };
  const startParts = async (store = open()) => {
    const uploadId = await store.startMultipart({ key, contentType: "text/plain", sizeBytes });
    return { store, upload: { key, uploadId } };
  };

  const listAll = async ({ imports }: S3Store) => {
    let count = 0;
    for await (const _ of imports.list()) count++;
    return count;
  };

  it("is a working bucket while it does not lie", async () => {
    const store = await stage();
    assert.equal((await store.finishPut(key, sizeBytes))?.sizeBytes, sizeBytes);
    const read = await store.read(key, { range: { start: 0, end: sizeBytes - 1 } });
    assert.deepEqual(await buffer(read as Readable), body);
    const { unusable, refused } = await store.examine();
    assert.deepEqual({ unusable, refused }, { unusable: null, refused: [] });
    await store.delete([key]);
  });

  it("has nothing copied that is not of the announced size", async () => {
    const store = await stage();
    const countCopies = () => bucket.count("copy-object") + bucket.count("create-upload");
    const copiesBefore = countCopies();
    for (const lie of [
      "absurd size",
      "absurd size of the final object",
      "another size of the final object",
    ] as const) {
      bucket.lie(lie);
      assert.equal(await store.finishPut(key, sizeBytes), null, lie);
    }
    assert.equal(countCopies(), copiesBefore);
    bucket.lie();
    assert.equal((await store.finishPut(key, sizeBytes))?.sizeBytes, sizeBytes);
    await store.delete([key]);
  });

  it("is at fault where its numbers, etags and ids are none", async () => {
    for (const lie of [
      "no length",
      "negative length",
      "length of letters",
      "no etag",
      "huge etag header",
      "huge etag in a copy",
      "etag with line breaks in a copy",
    ] as const) {
      const store = await stage();
      bucket.lie(lie);
      await assert.rejects(store.finishPut(key, sizeBytes), StorageUnavailable, lie);
      bucket.lie();
      await store.delete([key]);
    }
    bucket.lie("huge upload id");
    await assert.rejects(startParts(), StorageUnavailable);
    for (const lie of ["no length", "negative length", "length of letters", "huge etag header"] as const) {
      bucket.lie(lie);
      await assert.rejects(open().read(key), StorageUnavailable, lie);
    }
  });

  it("ends its lists, of parts, objects and uploads", async () => {
    const { store, upload } = await startParts();
    const finish = { ...upload, sizeBytes, parts: [{ partNumber: 1, etag: "x" }] };
    for (const lie of [
      "parts without end",
      "parts that stand still",
      "parts without numbers",
      "parts without a time",
      "XML without end",
      "XML of 300 MB",
      "XML that nests without end",
    ] as const) {
      bucket.lie(lie);
      await assert.rejects(store.listParts(upload), StorageUnavailable, lie);
      await assert.rejects(store.finishMultipart(finish), StorageUnavailable, lie);
    }
    assert.ok(bucket.count("list-parts") < 2000, `${bucket.count("list-parts")} requests`);
    for (const lie of [
      "objects that stand still",
      "objects of somebody else",
      "keys that are no UTF-8",
      "XML of 300 MB",
    ] as const) {
      bucket.lie(lie);
      await assert.rejects(listAll(store), StorageUnavailable, lie);
    }
    for (const lie of ["uploads that stand still", "keys that are no UTF-8"] as const) {
      bucket.lie(lie);
      await assert.rejects(store.findReceived("never sent"), StorageUnavailable, lie);
    }
    bucket.lie("parts of absurd size");
    const absurd = await store.finishMultipart({
      ...finish,
      parts: [1, 2].map((partNumber) => ({ partNumber, etag: "x" })),
    });
    assert.deepEqual(absurd.ok ? null : absurd.problem, "too-large");
  });

  it("may fill its pages with the longest keys there are", async () => {
    bucket.lie("pages as large as S3 makes them");
    for (const pageSize of [250, 1000]) {
      const store = open({ pageSize });
      // Public objects and private ones.
      assert.equal(await listAll(store), 2 * pageSize);
      assert.equal((await store.listParts({ key, uploadId: "1" }))?.length, pageSize);
      assert.equal(await store.findReceived("listed among other uploads"), null);
    }
  });

  it("has one deadline for a list of many pages, and for a sweep", async () => {
    const { store, upload } = await startParts(open({ listDeadlineMs: soonMs }));
    bucket.lie("objects without end");
    const now = Date.now();
    const sweep = { stagedOlderThanMs: 1e9, uploadsIdleMs: 1e9, maxDeletions: 10, now, deadlineMs: soonMs };
    await assert.rejects(store.sweep(sweep), /did not respond in time/);
    bucket.lie("parts without end");
    await assert.rejects(store.listParts(upload), StorageUnavailable);
  });

  it("ends every call within its deadline, and every probe", async () => {
    const hasty = {
      retry: { ...patient, attempts: 1 },
      attemptDeadlineMs: soonMs,
      probeDeadlineMs: soonMs,
      finishDeadlineMs: soonMs,
    };
    for (const lie of ["no answer", "one byte a second", "interim answers without end"] as const) {
      const { store, upload } = await startParts(await stage(open(hasty)));
      bucket.lie(lie);
      for (const work of [
        () => store.finishPut(key, sizeBytes),
        () => store.listParts(upload),
        () => store.delete([key]),
        () => store.probe(),
        () => store.findReceived("never sent"),
      ])
        await work().then(
          // An answer to HEAD has no body that could be late.
          (outcome) => assert.equal(outcome, null),
          (error) => assert.ok(error instanceof StorageUnavailable, String(error)),
        );
      const { unusable, refused } = await store.examine();
      assert.ok(unusable !== null || refused.length > 0, lie);
      bucket.lie();
      await store.delete([key]);
      await store.close();
    }
  });

  it("has no bytes collected that nobody asked for", async () => {
    const store = open();
    bucket.lie("a body without end");
    await assert.rejects(store.probe(), StorageUnavailable);
    const { refused } = await store.examine();
    assert.deepEqual(
      refused.map(({ act }) => act),
      ["read"],
    );
    await assert.rejects(store.read(key, { range: { start: 0, end: 9 } }), StorageUnavailable);
  });

  it("is quoted in 200 printable characters", async () => {
    const store = open();
    for (const lie of [
      "errors of 15 MB",
      "errors with long messages",
      "errors under a 200",
      "redirects",
    ] as const) {
      bucket.lie(lie);
      for (const work of [
        () => store.startMultipart({ key, contentType: "a/b", sizeBytes }),
        () => store.read(key),
      ]) {
        const error = await work().then(
          () => null,
          (reason: Error) => reason,
        );
        if (lie === "errors under a 200" && error === null) continue;
        assert.ok(error instanceof StorageUnavailable, `${lie}: ${String(error).slice(0, 300)}`);
        assert.ok(error.message.length <= 300, `${lie}: ${error.message.length} characters`);
        assert.doesNotMatch(error.message, /\p{Cc}/u);
      }
      const { unusable, refused } = await store.examine();
      for (const reason of [unusable ?? "", ...refused.map((refusal) => refusal.reason)])
        assert.ok(reason.length <= 300, `${lie}: ${reason.length} characters`);
    }
  });

  it("stops being probed when whoever asked has gone", async () => {
    const store = open({ attemptDeadlineMs: 50_000 });
    bucket.lie("no list of parts");
    const gone = new AbortController();
    const listedBefore = bucket.count("list-parts");
    const examined = store.examine(gone.signal);
    while (bucket.count("list-parts") === listedBefore) await sleep(5);
    gone.abort();
    const { refused } = await examined;
    assert.equal(refused[0]?.act, "upload in parts");
    assert.equal(bucket.count("list-parts"), listedBefore + 1);
    await store.close();
  });

  it("keeps no reader waiting that gets no byte, and no connection afterwards", async () => {
    const store = open({ readIdleMs: soonMs });
    bucket.lie("headers, then silence");
    const read = await store.read(key, { range: { start: 0, end: 99 } });
    await assert.rejects(buffer(read as Readable), /stopped sending/);
    await store.close();
  });

  it("has so many connections to itself and no more, and takes none from others", async () => {
    const mostSockets = 4;
    const store = open({ maxSockets: mostSockets });
    const other = await startHostileBucket();
    const others = open({ endpoint: other.url, maxSockets: mostSockets });
    bucket.lie("headers, then silence");
    const before = bucket.openConnections();
    const reads = await Promise.allSettled(
      Array.from({ length: 20 }, () => store.read(key, { range: { start: 0, end: 9 } })),
    );
    const opened = reads.flatMap((read) => (read.status === "fulfilled" ? [read.value as Readable] : []));
    assert.equal(opened.length, mostSockets);
    assert.ok(bucket.openConnections() - before <= mostSockets);
    assert.equal((await others.write("a", body, { contentType: "a/b" })).sizeBytes, sizeBytes);
    for (const stream of opened) stream.destroy();
    await store.close();
    await others.close();
    await other.stop();
  });
});
