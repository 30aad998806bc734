import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { createRandomFaults, type Fault } from "../../../../../test/support/fault-proxy.ts";
import { setUpFaultyS3 } from "../../../../../test/support/faulty-s3.ts";
import { createTestBucket } from "../../../../../test/support/s3-server.ts";
import { swiftMissing } from "../../../../../test/support/swift.ts";
import { put, readAll } from "../../../test/support/storage/contract-client.ts";
import { openTestStore } from "../../../test/support/storage/open-s3-store.ts";
import { StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable } from "../object-store.ts";
import { minPartBytes } from "./multipart.ts";
import type { S3Store } from "./s3-store.ts";

const type = "application/octet-stream";
const quickRetry = { attempts: 5, baseDelayMs: 5, maxDelayMs: 20, giveUpAfterMs: 30_000 };

describe("a bucket behind a bad network", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  let bucket: string;
  /** Sees the faults. */
  let store: S3Store;
  /** Sees the same bucket as it is. */
  let witness: S3Store;
  before(async () => {
    const { server, proxy } = s3;
    bucket = await createTestBucket(server);
    const settings = { bucket, publicEndpoint: server.endpoint };
    store = await openTestStore(server, { ...settings, endpoint: proxy.url, retry: quickRetry });
    witness = await openTestStore(server, settings);
  });
  after(async () => {
    await store.close();
    await witness.close();
  });

  let lastKey = 0;
  const newKey = () => `faults/${++lastKey}`;
  const stage = async (key: string, body: Uint8Array) => {
    const url = await store.presignPut({ key, contentType: type, sizeBytes: body.length, expiresInSec: 60 });
    assert.equal((await put(url, body, { "content-type": type })).status, 200);
    return url;
  };
  /** As clients do: a clean refusal is tried again, anything else is a failure of the test. */
  const insist = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        assert.ok(error instanceof StorageUnavailable, String(error));
        assert.ok(attempt < 20, "twenty refusals in a row");
      }
    }
  };
  const unanswered: Fault[] = [
    { kind: "answer", status: 500 },
    { kind: "answer", status: 503, body: "<Error><Code>SlowDown</Code></Error>" },
    { kind: "answer", status: 500, isForwarded: true },
    { kind: "reset" },
    { kind: "reset", isForwarded: true },
    { kind: "cut", afterBytes: 10 },
  ];

  it("loses and mixes up nothing while three requests in ten fail", async () => {
    s3.proxy.setFaults(createRandomFaults(0.3, 20_260_314, unanswered));
    const kept = new Map<string, Buffer>();
    const deleted: string[] = [];
    const indexes = Array.from({ length: 15 }, (_, index) => index).values();
    const live = async (index: number) => {
      const key = newKey();
      const body = randomBytes(1000 + index);
      const url = await stage(key, body);
      const object = await insist(() => store.finishPut(key, body.length));
      assert.equal(object?.sizeBytes, body.length);
      await put(url, randomBytes(body.length), { "content-type": type });
      assert.deepEqual(await insist(() => store.finishPut(key, body.length)), object);
      if (index % 3 === 0) {
        await insist(() => store.delete([key]));
        deleted.push(key);
      } else kept.set(key, body);
    };
    const work = async () => {
      for (const index of indexes) await live(index);
    };
    await Promise.all([work(), work(), work()]);
    assert.ok(s3.proxy.faultCount() > 20, `${s3.proxy.faultCount()} faults`);
    for (const [key, body] of kept) assert.deepEqual(await readAll(witness, key), body, key);
    for (const key of deleted) assert.equal(await witness.head(key), null, key);
  });

  it("looks again where a copy finds no bucket, before it believes that", async () => {
    const body = randomBytes(100);
    const noBucket: Fault = { kind: "answer", status: 404, body: "<Error><Code>NoSuchBucket</Code></Error>" };
    const [lasting, brief] = [newKey(), newKey()];
    for (const key of [lasting, brief]) await stage(key, body);
    let copies = 0;
    s3.proxy.setFaults(({ headers }) => ("x-amz-copy-source" in headers && ++copies === 1 ? noBucket : null));
    assert.equal((await store.finishPut(brief, body.length))?.sizeBytes, body.length);
    assert.deepEqual(await readAll(witness, brief), body);
    s3.proxy.setFaults(({ headers }) => ("x-amz-copy-source" in headers ? noBucket : null));
    await assert.rejects(store.finishPut(lasting, body.length), StorageUnavailable);
    s3.proxy.setFaults(() => null);
    assert.equal((await store.finishPut(lasting, body.length))?.sizeBytes, body.length);
  });

  it("knows a source that is gone also from a store without guarded copies", async () => {
    const key = newKey();
    await stage(key, randomBytes(100));
    const unguarded: Fault = {
      kind: "answer",
      status: 501,
      body: "<Error><Code>NotImplemented</Code></Error>",
    };
    const gone: Fault = { kind: "answer", status: 404, body: "<Error><Code>NoSuchKey</Code></Error>" };
    let copies = 0;
    s3.proxy.setFaults(({ headers, method }) => {
      if ("x-amz-copy-source" in headers) return ++copies === 1 ? unguarded : gone;
      return copies > 1 && method === "HEAD" ? gone : null;
    });
    const fresh = await openTestStore(s3.server, { bucket, endpoint: s3.proxy.url, retry: quickRetry });
    assert.equal(await fresh.finishPut(key, 100), null);
    assert.equal(copies, 2);
    await fresh.close();
  });

  it("finishes multipart uploads once and whole", async () => {
    s3.proxy.setFaults(createRandomFaults(0.3, 7, unanswered));
    const key = newKey();
    const bodies = [randomBytes(minPartBytes), randomBytes(1234)];
    const sizeBytes = minPartBytes + 1234;
    const uploadId = await insist(() => store.startMultipart({ key, contentType: type, sizeBytes }));
    const urls = await store.presignParts({
      key,
      uploadId,
      sizeBytes,
      partNumbers: [1, 2],
      expiresInSec: 60,
    });
    const parts: { partNumber: number; etag: string }[] = [];
    for (const [index, body] of bodies.entries())
      parts.push({ partNumber: index + 1, etag: (await put(urls[index] ?? "", body)).etag });
    const finish = () => store.finishMultipart({ key, uploadId, sizeBytes, parts });
    const result = await insist(finish);
    assert.ok(result.ok);
    assert.deepEqual(await insist(finish), result);
    assert.deepEqual(await readAll(witness, key), Buffer.concat(bodies));
  });

  it("goes on with a read where the connection broke", async () => {
    const key = newKey();
    const body = randomBytes(3_000_000);
    await witness.write(key, body, { contentType: type });
    let cutsLeft = 3;
    s3.proxy.setFaults(() => (cutsLeft-- > 0 ? { kind: "cut", afterBytes: 700_001 } : null));
    assert.deepEqual(await readAll(store, key), body);
    cutsLeft = 2;
    const range = { start: 17, end: 2_500_000 };
    assert.deepEqual(await readAll(store, key, range), body.subarray(17, 2_500_001));
  });

  it("fails a read that it cannot end, and one whose object became another", async () => {
    const key = newKey();
    await witness.write(key, randomBytes(1_000_000), { contentType: type });
    s3.proxy.setFaults(() => ({ kind: "cut", afterBytes: 1000 }));
    await assert.rejects(readAll(store, key));

    const replaced = Promise.withResolvers<void>();
    s3.proxy.setFaults(({ headers }) =>
      headers.range === undefined
        ? { kind: "cut", afterBytes: 200_000 }
        : { kind: "wait", until: replaced.promise },
    );
    const stream = await store.read(key);
    assert.ok(stream instanceof Readable);
    await witness.write(key, randomBytes(1_000_000), { contentType: type });
    replaced.resolve();
    await assert.rejects(stream.toArray(), StorageUnavailable);
  });

  it("fails a read whose answer is longer or shorter than what was asked for", async () => {
    const key = newKey();
    const body = randomBytes(1_000_000);
    await witness.write(key, body, { contentType: type });
    const range = { start: 0, end: 9 };
    for (const sizeBytes of [9, 11]) {
      s3.proxy.setFaults(() => ({ kind: "answer", status: 206, body: "x".repeat(sizeBytes) }));
      await assert.rejects(store.read(key, { range }), StorageUnavailable);
    }
    // The rest of a read that was cut is no place to say something else either.
    let requests = 0;
    s3.proxy.setFaults(() =>
      ++requests === 1
        ? { kind: "cut", afterBytes: 1000 }
        : { kind: "answer", status: 206, body: "x".repeat(body.length) },
    );
    await assert.rejects(readAll(store, key), StorageUnavailable);
  });

  it("gives up in time where nothing answers, and works again afterwards", async () => {
    const key = newKey();
    const hasty = await openTestStore(s3.server, {
      bucket,
      endpoint: s3.proxy.url,
      retry: { ...quickRetry, attempts: 2 },
      attemptDeadlineMs: 200,
    });
    await stage(key, randomBytes(10));
    s3.proxy.setFaults(() => ({ kind: "hang" }));
    const calls = [
      () => hasty.finishPut(key, 10),
      () => hasty.read(key),
      () => hasty.delete([key]),
      () => hasty.check(),
    ];
    for (const call of calls) await assert.rejects(call, StorageUnavailable);
    s3.proxy.setFaults(() => null);
    assert.equal((await store.finishPut(key, 10))?.sizeBytes, 10);
    await hasty.check();
    await hasty.close();
  });

  it("takes an error under a 200 for what it is", async () => {
    const key = newKey();
    const body = randomBytes(100);
    await stage(key, body);
    let count = 0;
    s3.proxy.setFaults(({ method, url }) => {
      if (method !== "PUT" || url?.includes("probe") || ++count > 1) return null;
      return { kind: "answer", status: 200, body: "<Error><Code>InternalError</Code></Error>" };
    });
    assert.equal((await store.finishPut(key, 100))?.sizeBytes, 100);
    assert.equal(count, 2);
    assert.deepEqual(await readAll(witness, key), body);
  });

  it("deletes one by one where there are no lists, whatever becomes of one of them", async () => {
    const keys = Array.from({ length: 10 }, newKey);
    for (const key of keys) await witness.write(key, randomBytes(10), { contentType: type });
    const [held] = keys;
    const denied: Fault = { kind: "answer", status: 403, body: "<Error><Code>AccessDenied</Code></Error>" };
    s3.proxy.setFaults(({ method, url }) => {
      if (method === "POST") return { kind: "answer", status: 405 };
      return url?.endsWith(`/f/${held}`) ? denied : null;
    });
    const fresh = await openTestStore(s3.server, { bucket, endpoint: s3.proxy.url, retry: quickRetry });
    const refused = await fresh.delete(keys);
    assert.deepEqual(
      refused.map(({ key }) => key),
      [held],
    );
    assert.match(refused[0]?.error.message ?? "", /403 AccessDenied/);
    for (const key of keys) assert.equal((await witness.head(key)) !== null, key === held, key);
    s3.proxy.setFaults(() => null);
    assert.deepEqual(await fresh.delete(keys), []);
    await fresh.close();
  });

  it("calls a full bucket full, and does not ask again", async () => {
    let count = 0;
    s3.proxy.setFaults(() => {
      count++;
      return { kind: "answer", status: 403, body: "<Error><Code>QuotaExceeded</Code></Error>" };
    });
    await assert.rejects(store.write(newKey(), randomBytes(10), { contentType: type }), StorageFull);
    assert.equal(count, 1);
  });

  it("calls a bucket that is gone unavailable, not empty", async () => {
    s3.proxy.setFaults(() => ({
      kind: "answer",
      status: 404,
      body: "<Error><Code>NoSuchBucket</Code></Error>",
    }));
    await assert.rejects(store.read(newKey()), StorageUnavailable);
    await assert.rejects(store.listParts({ key: newKey(), uploadId: "x" }), StorageUnavailable);
  });

  it("knows of no parts where it may not list, unless it may nothing at all", async () => {
    const missing = newKey();
    const denied: Fault = { kind: "answer", status: 403, body: "<Error><Code>AccessDenied</Code></Error>" };
    s3.proxy.setFaults(({ url }) => (url?.includes("uploads=") ? denied : null));
    const fresh = await openTestStore(s3.server, { bucket, endpoint: s3.proxy.url, retry: quickRetry });
    assert.equal(await fresh.findReceived(missing), null);
    const other = await openTestStore(s3.server, { bucket, endpoint: s3.proxy.url, retry: quickRetry });
    s3.proxy.setFaults(({ method }) => (method === "HEAD" ? null : denied));
    await assert.rejects(other.findReceived(missing), StorageUnavailable);
    await Promise.all([fresh.close(), other.close()]);
  });

  it("tells a 403 for what is missing from one for everything", async () => {
    const missing = newKey();
    const isNamed = (url: string | undefined) => url?.includes(missing) ?? false;
    const denied: Fault = { kind: "answer", status: 403, body: "<Error><Code>AccessDenied</Code></Error>" };
    s3.proxy.setFaults(() => denied);
    await assert.rejects(store.head(missing), StorageUnavailable);
    await assert.rejects(store.read(missing), StorageUnavailable);
    s3.proxy.setFaults(({ url }) => (isNamed(url) ? denied : null));
    assert.equal(await store.head(missing), null);
    assert.equal(await store.read(missing), null);
    const calls = [() => store.head(missing), () => store.read(missing), () => store.finishPut(missing, 10)];
    for (const code of ["InvalidAccessKeyId", "RequestTimeTooSkewed"]) {
      s3.proxy.setFaults(() => ({ ...denied, body: `<Error><Code>${code}</Code></Error>` }));
      for (const call of calls) await assert.rejects(call, StorageUnavailable);
    }
  });
});
