import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { createSdkClient, createTestBucket, type S3Server } from "../../../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../../../test/support/swift.ts";
import { put, readAll } from "../../../test/support/storage/contract-client.ts";
import { openTestStore } from "../../../test/support/storage/open-s3-store.ts";
import { StorageUnavailable } from "../object-store.ts";
import { minPartBytes } from "./multipart.ts";
import type { S3Store } from "./s3-store.ts";

const type = "text/html";
const hourMs = 3_600_000;

describe("the bucket store", { skip: swiftMissing }, () => {
  let server: S3Server;
  let bucket: string;
  let store: S3Store;
  let sdk: S3Client;
  before(async () => {
    server = await startSwift();
    bucket = await createTestBucket(server);
    store = await openTestStore(server, { bucket });
    sdk = createSdkClient(server);
  });
  after(async () => {
    sdk.destroy();
    await store.close();
    await server.stop();
  });

  let lastKey = 0;
  const newKey = () => `project/${++lastKey}/ü b.html`;
  const presign = (key: string, sizeBytes: number) =>
    store.presignPut({ key, contentType: type, sizeBytes, expiresInSec: 60 });
  const stage = async (key: string, body: Uint8Array, headers: Record<string, string> = {}) => {
    const answer = await put(await presign(key, body.length), body, { "content-type": type, ...headers });
    assert.equal(answer.status, 200);
  };
  const listNames = async (prefix = "") => {
    const list = await sdk.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
    return (list.Contents ?? []).map((item) => item.Key);
  };

  it("refuses a URL of which anything was changed", async () => {
    const key = newKey();
    const url = await presign(key, 3);
    const { origin } = new URL(url);
    const positions = Array.from({ length: url.length - origin.length - 1 }, (_, i) => origin.length + 1 + i);
    for (const position of positions.filter((_, i) => i % 5 === 0)) {
      const old = url[position] ?? "";
      const changed = url.slice(0, position) + (old === "x" ? "y" : "x") + url.slice(position + 1);
      const { status } = await put(changed, "abc", { "content-type": type });
      assert.ok(status >= 400 && status < 500, `${status} for ${changed}`);
    }
    assert.equal(await store.findReceived(key), null);
    const lasting = url.replace("X-Amz-Expires=60", "X-Amz-Expires=600");
    assert.equal((await put(lasting, "abc", { "content-type": type })).status, 403);
    assert.equal((await put(url, "abc", { "content-type": type })).status, 200);
    await store.delete([key]);
    assert.equal(await store.findReceived(key), null);
  });

  it("gives a final object its type and disposition, and nothing that the client added", async () => {
    const key = newKey();
    await stage(key, Buffer.from("<p>"), {
      "content-encoding": "gzip",
      "content-disposition": "inline",
      "cache-control": "public, max-age=31536000",
    });
    await store.finishPut(key, 3);
    const head = await sdk.send(new HeadObjectCommand({ Bucket: bucket, Key: `installation/f/${key}` }));
    assert.equal(head.ContentType, type);
    assert.equal(head.ContentDisposition, "attachment");
    assert.equal(head.ContentEncoding, undefined);
    assert.equal(head.CacheControl, undefined);
    assert.deepEqual(await listNames("installation/staging/"), []);
  });

  it("keeps everything below its prefix", async () => {
    await sdk.send(new PutObjectCommand({ Bucket: bucket, Key: "foreign", Body: "untouched" }));
    const key = newKey();
    await stage(key, Buffer.from("staged"));
    await store.sweep({
      stagedOlderThanMs: -hourMs,
      uploadsIdleMs: -hourMs,
      maxDeletions: 100,
      now: Date.now(),
    });
    assert.deepEqual(
      (await listNames()).filter((name) => !name?.startsWith("installation/f/")),
      ["foreign"],
    );
    await sdk.send(new DeleteObjectCommand({ Bucket: bucket, Key: "foreign" }));
  });

  it("serves a presigned GET with the headers it names, and only until the object is deleted", async () => {
    const key = newKey();
    await store.write(key, Buffer.from("hello"), { contentType: "text/plain" });
    const disposition = `attachment; filename="_.txt"; filename*=UTF-8''%C3%BC.txt`;
    const url = store.directReads.presignGet(key, {
      expiresInSec: 60,
      contentType: "application/pdf",
      contentDisposition: disposition,
    });
    const answer = await fetch(url, { headers: { range: "bytes=1-3" } });
    assert.equal(answer.status, 206);
    assert.equal(await answer.text(), "ell");
    assert.equal(answer.headers.get("content-type"), "application/pdf");
    assert.equal(answer.headers.get("content-disposition"), disposition);
    assert.equal((await fetch(url.replace("application%2Fpdf", "text%2Fhtml"))).status, 403);
    await store.delete([key]);
    assert.equal((await fetch(url)).status, 404);
  });

  it("signs for the address that clients use", async () => {
    const elsewhere = await openTestStore(server, { bucket, publicEndpoint: "https://files.example.com/s3" });
    const ref = { key: "k", expiresInSec: 60, sizeBytes: 1 };
    const urls = [
      await elsewhere.presignPut({ ...ref, contentType: type }),
      ...(await elsewhere.presignParts({ ...ref, uploadId: "u", partNumbers: [1] })),
      elsewhere.directReads.presignGet("k", {
        expiresInSec: 60,
        contentType: type,
        contentDisposition: "inline",
      }),
    ];
    for (const url of urls)
      assert.ok(url.startsWith(`https://files.example.com/s3/${bucket}/installation/`), url);
    await elsewhere.check();
    await elsewhere.close();
  });

  it("makes large staged objects final in pieces", async () => {
    const pieces = await openTestStore(server, { bucket, copyPieceBytes: minPartBytes });
    const key = newKey();
    const body = randomBytes(2 * minPartBytes + 77);
    await stage(key, body);
    const object = await pieces.finishPut(key, body.length);
    assert.equal(object?.sizeBytes, body.length);
    assert.deepEqual(await pieces.head(key), object);
    assert.deepEqual(await pieces.finishPut(key, body.length), object);
    assert.deepEqual(await readAll(pieces, key), body);
    await pieces.close();
  });

  it("moves objects of many parts, at once and in pieces", async () => {
    const inPieces = await openTestStore(server, { bucket, copyPieceBytes: minPartBytes });
    for (const mover of [store, inPieces]) {
      const key = newKey();
      const body = randomBytes(2 * minPartBytes + 77);
      const uploadId = await store.startMultipart({ key, contentType: type, sizeBytes: body.length });
      const upload = { key, uploadId, sizeBytes: body.length };
      const parts: { partNumber: number; etag: string }[] = [];
      for (let start = 0; start < body.length; start += minPartBytes) {
        const partNumber = parts.length + 1;
        const bytes = body.subarray(start, start + minPartBytes);
        parts.push({ partNumber, etag: (await store.putPart({ ...upload, partNumber, bytes })).etag });
      }
      assert.equal((await store.finishMultipart({ ...upload, parts })).ok, true);
      const toKey = newKey();
      const copied = await mover.copies?.copy(key, toKey);
      assert.deepEqual(copied, await store.head(toKey));
      assert.deepEqual(await readAll(store, toKey), body);
      // Done before, by somebody who did not hear of it.
      assert.deepEqual(await mover.copies?.copy(key, toKey), copied);
      assert.equal(await mover.copies?.copy(newKey(), newKey()), null);
    }
    await inPieces.close();
  });

  it("aborts an upload whose parts are larger than the file, and keeps one whose parts are too small", async () => {
    const start = async (sizes: number[], sizeBytes: number) => {
      const key = newKey();
      const uploadId = await store.startMultipart({ key, contentType: type, sizeBytes });
      const partNumbers = sizes.map((_, i) => i + 1);
      const urls = await store.presignParts({ key, uploadId, sizeBytes, partNumbers, expiresInSec: 60 });
      const parts: { partNumber: number; etag: string }[] = [];
      for (const [i, size] of sizes.entries())
        parts.push({ partNumber: i + 1, etag: (await put(urls[i] ?? "", randomBytes(size))).etag });
      return { key, uploadId, sizeBytes, parts };
    };
    const large = await start([minPartBytes + 1], minPartBytes);
    const refused = await store.finishMultipart(large);
    assert.deepEqual([refused.ok, refused.ok || refused.problem], [false, "too-large"]);
    assert.equal(await store.listParts(large), null);

    const small = await start([1000, 500], 1500);
    const tooSmall = await store.finishMultipart(small);
    assert.deepEqual([tooSmall.ok, tooSmall.ok || tooSmall.problem], [false, "part-too-small"]);
    assert.equal((await store.listParts(small))?.length, 2);
    await store.abortMultipart(small);
  });

  it("deletes more keys than one request takes", async () => {
    const paged = await openTestStore(server, { pageSize: 20 });
    const keys = Array.from({ length: 55 }, (_, i) => `many/${i} & <ü>`);
    const written = keys.filter((_, i) => i % 5 === 0);
    for (const key of written) await paged.write(key, Buffer.from(key), { contentType: type });
    await paged.delete(keys);
    for (const key of written) assert.equal(await paged.head(key), null, key);
    await paged.close();
  });

  it("pages through lists of parts, uploads and objects", async () => {
    const paged = await openTestStore(server, { pageSize: 2 });
    const refs: { key: string; uploadId: string }[] = [];
    for (const key of ["a&b", "a b", "ü", "zz"]) {
      const uploadId = await paged.startMultipart({ key, contentType: type, sizeBytes: 5 });
      refs.push({ key, uploadId });
      const url = await paged.presignPut({ key, contentType: type, sizeBytes: 1, expiresInSec: 60 });
      await put(url, "x", { "content-type": type });
    }
    const ref = refs[3] ?? { key: "", uploadId: "" };
    const partNumbers = [1, 2, 3, 4, 5];
    const urls = await paged.presignParts({ ...ref, sizeBytes: 5, partNumbers, expiresInSec: 60 });
    for (const url of urls) await put(url, "x");
    assert.deepEqual(
      (await paged.listParts(ref))?.map((part) => part.partNumber),
      partNumbers,
    );
    const old = { stagedOlderThanMs: 0, uploadsIdleMs: 0, maxDeletions: 100, now: Date.now() + hourMs };
    assert.deepEqual(await paged.sweep(old), { stagedObjects: 4, uploads: 4, capped: false });
    assert.deepEqual(await paged.sweep(old), { stagedObjects: 0, uploads: 0, capped: false });
    await paged.close();
  });

  it("sweeps what is old, up to a limit, and only looks in a dry run", async () => {
    const swept = await openTestStore(server);
    for (const name of ["a", "b", "c"]) {
      const url = await swept.presignPut({ key: name, contentType: type, sizeBytes: 1, expiresInSec: 60 });
      await put(url, "x", { "content-type": type });
    }
    const upload = {
      key: "big",
      uploadId: await swept.startMultipart({ key: "big", contentType: type, sizeBytes: 9 }),
    };
    const young = { stagedOlderThanMs: hourMs, uploadsIdleMs: hourMs, maxDeletions: 100, now: Date.now() };
    assert.deepEqual(await swept.sweep(young), { stagedObjects: 0, uploads: 0, capped: false });
    const old = { ...young, now: Date.now() + 2 * hourMs };
    assert.deepEqual(await swept.sweep({ ...old, dryRun: true }), {
      stagedObjects: 3,
      uploads: 1,
      capped: false,
    });
    assert.deepEqual(await swept.sweep({ ...old, maxDeletions: 2 }), {
      stagedObjects: 2,
      uploads: 0,
      capped: true,
    });
    assert.deepEqual(await swept.listParts(upload), []);
    assert.deepEqual(await swept.sweep(old), { stagedObjects: 1, uploads: 1, capped: false });
    assert.equal(await swept.listParts(upload), null);
    await swept.close();
  });

  it("is swept by two at once without a word, and by none whose turn is over", async () => {
    const settings = { bucket: await createTestBucket(server) };
    const both = [await openTestStore(server, settings), await openTestStore(server, settings)] as const;
    const [first] = both;
    const urlOf = (key: string) =>
      first.presignPut({ key, contentType: type, sizeBytes: 1, expiresInSec: 60 });
    const keys = Array.from({ length: 4 }, (_, i) => `left/${i}`);
    for (const key of ["kept", ...keys]) await put(await urlOf(key), "x", { "content-type": type });
    await first.finishPut("kept", 1);
    const upload = {
      key: "big",
      uploadId: await first.startMultipart({ key: "big", contentType: type, sizeBytes: 9 }),
    };
    const later = { stagedOlderThanMs: 0, uploadsIdleMs: 0, maxDeletions: 100, now: Date.now() + hourMs };
    await assert.rejects(first.sweep({ ...later, signal: AbortSignal.abort() }), { name: "AbortError" });
    for (const key of keys) assert.ok((await first.findReceived(key)) !== null, key);
    await Promise.all(both.map((instance) => instance.sweep(later)));
    for (const key of keys) assert.equal(await first.findReceived(key), null, key);
    assert.equal(await first.listParts(upload), null);
    assert.deepEqual(await readAll(first, "kept"), Buffer.from("x"));
    await Promise.all(both.map((instance) => instance.close()));
  });

  it("says what is wrong with credentials or a bucket", async () => {
    const wrongSecret = await openTestStore(server, { bucket, secretAccessKey: "wrong" });
    await assert.rejects(wrongSecret.probe(), {
      name: "StorageUnavailable",
      message: /SignatureDoesNotMatch/,
    });
    await assert.rejects(wrongSecret.head("k"), StorageUnavailable);
    await assert.rejects(wrongSecret.check(), StorageUnavailable);
    const noBucket = await openTestStore(server, { bucket: "there-is-no-such-bucket" });
    await assert.rejects(noBucket.probe(), { name: "StorageUnavailable", message: /NoSuchBucket/ });
    const calls = [
      () => noBucket.check(),
      () => noBucket.head("k"),
      () => noBucket.read("k"),
      () => noBucket.finishPut("k", 1),
      () => noBucket.findReceived("k"),
    ];
    for (const call of calls) await assert.rejects(call, StorageUnavailable);
    await store.probe();
    assert.equal(await store.allowsBrowsers(), false);
    assert.deepEqual(await listNames("installation/probe/"), []);
    await Promise.all([wrongSecret.close(), noBucket.close()]);
  });

  it("holds what others' clients read", async () => {
    const key = newKey();
    const body = randomBytes(70_000);
    await stage(key, body);
    await store.finishPut(key, body.length);
    const read = await sdk.send(new GetObjectCommand({ Bucket: bucket, Key: `installation/f/${key}` }));
    assert.deepEqual(Buffer.from((await read.Body?.transformToByteArray()) ?? []), body);
  });
});
