// A second opinion on the contract, from Ceph's gateway. Not part of `npm test`, because it takes 250 MB of packages:
// `npm run test:s3 -- radosgw` installs them and runs it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { radosgwMissing, startRadosgw } from "../../../test/support/radosgw.ts";
import { minPartBytes } from "../src/storage/s3/multipart.ts";
import { describeObjectStore } from "./support/storage/contract.ts";
import { put } from "./support/storage/contract-client.ts";
import { openSubject, openTestStore } from "./support/storage/open-s3-store.ts";

describe("radosgw", { skip: radosgwMissing }, () => {
  describeObjectStore("S3 on radosgw", () => openSubject(startRadosgw), {
    latePut: { afterFinish: 200, afterDelete: 200, partAfterEnd: 404 },
    minPartBytes,
    capsParts: false,
    withoutLength: 403,
    needsEveryPart: true,
  });

  it("lists 1,100 parts, which are more than it shows at once", async () => {
    const server = await startRadosgw();
    const store = await openTestStore(server);
    const sizeBytes = 1100;
    const partNumbers = Array.from({ length: sizeBytes }, (_, i) => i + 1);
    const key = "many parts";
    const ref = { key, uploadId: await store.startMultipart({ key, contentType: "text/plain", sizeBytes }) };
    const urls = (await store.presignParts({ ...ref, sizeBytes, partNumbers, expiresInSec: 600 })).values();
    const send = async () => {
      for (const url of urls) assert.equal((await put(url, "x")).status, 200);
    };
    await Promise.all([send(), send(), send(), send(), send(), send(), send(), send()]);
    const listed = await store.listParts(ref);
    assert.deepEqual(
      listed?.map((part) => part.partNumber),
      partNumbers,
    );
    await store.abortMultipart(ref);
    assert.equal(await store.listParts(ref), null);
    await store.close();
    await server.stop();
  });

  it("deletes 1,500 keys at once, and takes CORS rules for browsers", async () => {
    const server = await startRadosgw();
    const store = await openTestStore(server);
    const keys = Array.from({ length: 1500 }, (_, i) => `many/${i} & <ü>`);
    const written = keys.filter((_, i) => i % 50 === 0 || i % 500 === 499);
    for (const key of written) await store.write(key, Buffer.from(key), { contentType: "text/plain" });
    await store.delete(keys);
    for (const key of written) assert.equal(await store.head(key), null, key);

    assert.equal(await store.allowsBrowsers(), false);
    await store.allowBrowsers();
    assert.equal(await store.allowsBrowsers(), true);
    const url = await store.presignPut({
      key: "k",
      contentType: "text/plain",
      sizeBytes: 3,
      expiresInSec: 60,
    });
    const headers = { origin: "https://app.example.com", "content-type": "text/plain" };
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin: headers.origin,
        "access-control-request-method": "PUT",
        "access-control-request-headers": "content-type",
      },
    });
    assert.equal(preflight.status, 200);
    const sent = await fetch(url, { method: "PUT", headers, body: "abc" });
    assert.equal(sent.status, 200);
    assert.match(sent.headers.get("access-control-expose-headers") ?? "", /etag/i);
    assert.ok(["*", headers.origin].includes(sent.headers.get("access-control-allow-origin") ?? ""));
    await store.close();
    await server.stop();
  });
});
