import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { ObjectStore } from "./object-store.ts";
import { put, readAll, sendRaw, statusOf } from "./object-store-contract-client.ts";

/** Where adapters may differ, because what stands behind them does. */
export interface StoreTraits {
  /** What a PUT to a URL that is still valid answers once its upload has ended. Its bytes are never served. */
  latePut: { afterFinish: number; afterDelete: number; partAfterEnd: number };
  /** The least size of every part but the last. */
  minPartBytes: number;
  /** Whether a part that is too large is refused when it arrives, and not only at the end. */
  capsParts: boolean;
  /** What a PUT without a length answers; 411 unless said. */
  withoutLength?: number;
  /** Goes on taking parts for an upload that is finished. They may make the object unreadable, never other bytes. */
  keepsFinishedUploads?: true;
  /** Cannot finish an upload without every part that it has received. */
  needsEveryPart?: true;
}

const type = "application/x-contract";
let lastKey = 0;
const newKey = (name = "file.bin") => `contract/${process.pid}/${++lastKey}/${name}`;

/** The contract written on `ObjectStore`, over real HTTP to the store's own presigned URLs. */
export function describeObjectStore(
  name: string,
  open: () => Promise<{ store: ObjectStore; close(): Promise<void> }>,
  traits: StoreTraits,
): void {
  describe(`object store contract: ${name}`, () => {
    let store: ObjectStore;
    let close: () => Promise<void>;
    before(async () => {
      ({ store, close } = await open());
    });
    after(() => close());

    const presign = (key: string, sizeBytes: number, expiresInSec = 60) =>
      store.presignPut({ key, contentType: type, sizeBytes, expiresInSec });
    const stage = async (key: string, body: Uint8Array) => {
      const url = await presign(key, body.length);
      assert.equal((await put(url, body, { "content-type": type })).status, 200);
      return url;
    };
    const assertReads = async (key: string, bytes: Uint8Array) => {
      assert.deepEqual(await readAll(store, key), Buffer.from(bytes));
      assert.equal((await store.head(key))?.sizeBytes, bytes.length);
    };
    const assertNothing = async (key: string) => {
      assert.equal(await store.findReceived(key), null);
      assert.equal(await store.finishPut(key), null);
      assert.equal(await store.read(key), null);
    };

    describe("a single PUT", () => {
      test("is staged, then final, with its size, etag and checksum", async () => {
        const key = newKey();
        const body = randomBytes(100_000);
        const startedAt = Date.now();
        await stage(key, body);
        assert.equal(await store.head(key), null);
        assert.equal(await store.read(key), null);
        const received = await store.findReceived(key);
        assert.equal(received?.sizeBytes, body.length);
        // Stores with a clock of their own may round to seconds.
        assert.ok(Math.abs((received?.receivedAt ?? 0) - startedAt) < 60_000);

        const object = await store.finishPut(key);
        assert.equal(object?.sizeBytes, body.length);
        assert.match(object?.etag ?? "", /^[^"\s]+$/);
        assert.ok(object?.sha256 === null || object?.sha256 === hash("sha256", body));
        assert.deepEqual(await store.head(key), object);
        assert.equal((await store.findReceived(key))?.sizeBytes, body.length);
        await assertReads(key, body);
      });

      test("answers with an ETag, and large bodies arrive whole", async () => {
        const key = newKey();
        const body = randomBytes(6_000_001);
        const answer = await put(await presign(key, body.length), body, { "content-type": type });
        assert.match(answer.etag, /^"[^"]+"$/);
        await store.finishPut(key);
        await assertReads(key, body);
      });

      test("may be repeated, and the last complete body wins", async () => {
        const key = newKey();
        const url = await stage(key, Buffer.from("first"));
        assert.equal((await put(url, "other", { "content-type": type })).status, 200);
        await sendRaw(url, [`Content-Type: ${type}`, "Content-Length: 5"], "bad", { end: "reset" });
        const object = await store.finishPut(key);
        await assertReads(key, Buffer.from("other"));
        assert.notEqual(object?.etag, undefined);
      });

      test("different bytes have different etags, the same bytes the same", async () => {
        const etags: (string | undefined)[] = [];
        for (const body of ["same", "same", "else"]) {
          const key = newKey();
          await stage(key, Buffer.from(body));
          etags.push((await store.finishPut(key))?.etag);
        }
        assert.equal(etags[0], etags[1]);
        assert.notEqual(etags[0], etags[2]);
      });

      test("keeps bytes as they are, whatever Content-Encoding says", async () => {
        const key = newKey();
        const answer = await put(await presign(key, 4), "asis", {
          "content-type": type,
          "content-encoding": "gzip",
        });
        assert.equal(answer.status, 200);
        await store.finishPut(key);
        await assertReads(key, Buffer.from("asis"));
      });

      test("finishing twice, or by many at once, gives the same object", async () => {
        const key = newKey();
        await stage(key, Buffer.from("once"));
        const objects = await Promise.all(Array.from({ length: 8 }, () => store.finishPut(key)));
        objects.push(await store.finishPut(key));
        for (const object of objects) assert.deepEqual(object, objects[0]);
        assert.equal(objects[0]?.sizeBytes, 4);
      });

      test("finishing before anything arrived is null", async () => {
        const key = newKey();
        await presign(key, 3);
        await assertNothing(key);
      });

      test("with another type is refused and keeps nothing", async () => {
        const key = newKey();
        const url = await presign(key, 3);
        assert.equal((await put(url, "abc", { "content-type": "text/html" })).status, 403);
        await assertNothing(key);
      });

      test("with another length is refused and keeps nothing", async () => {
        const key = newKey();
        const url = await presign(key, 3);
        for (const body of ["ab", "abcd", ""]) {
          assert.equal((await put(url, body, { "content-type": type })).status, 403, `${body.length} bytes`);
        }
        await assertNothing(key);
      });

      test("without a length, chunked or not, is refused", async () => {
        const key = newKey();
        const url = await presign(key, 3);
        const chunked = await sendRaw(
          url,
          [`Content-Type: ${type}`, "Transfer-Encoding: chunked"],
          "3\r\nabc\r\n0\r\n\r\n",
        );
        const refusal = traits.withoutLength ?? 411;
        assert.equal(statusOf(chunked), refusal);
        assert.equal(statusOf(await sendRaw(url, [`Content-Type: ${type}`], "")), refusal);
        await assertNothing(key);
      });

      test("cut off in the middle keeps nothing", async () => {
        const key = newKey();
        const url = await presign(key, 500_000);
        const headers = [`Content-Type: ${type}`, "Content-Length: 500000"];
        for (const end of ["close", "reset"] as const)
          await sendRaw(url, headers, randomBytes(400_000), { end });
        // The server may take a moment to see that the client has gone.
        while ((await store.findReceived(key)) !== null) await sleep(10);
        await assertNothing(key);
      });

      test("that goes on beyond its length keeps none of the rest", async () => {
        const key = newKey();
        const url = await presign(key, 5);
        await sendRaw(url, [`Content-Type: ${type}`, "Content-Length: 5"], "exactEXCESS");
        const object = await store.finishPut(key);
        if (object !== null) await assertReads(key, Buffer.from("exact"));
      });

      test("to an expired URL is refused", async () => {
        const key = newKey();
        const url = await presign(key, 3, 1);
        await sleep(2100);
        assert.equal((await put(url, "abc", { "content-type": type })).status, 403);
        await assertNothing(key);
      });

      test("never changes bytes that are final", async () => {
        const key = newKey();
        const url = await stage(key, Buffer.from("final"));
        const object = await store.finishPut(key);
        assert.equal((await put(url, "later", { "content-type": type })).status, traits.latePut.afterFinish);
        assert.deepEqual(await store.head(key), object);
        await assertReads(key, Buffer.from("final"));
        assert.deepEqual(await store.finishPut(key), object);
        await assertReads(key, Buffer.from("final"));
      });
    });

    describe("keys", () => {
      const names = [
        "ünï cödé 😀.txt",
        "a b+c&d=e?f#g%41.txt",
        "..",
        "%2e%2e",
        "quote\"'<>.txt",
        "long".repeat(200),
      ];
      for (const name of names) {
        test(`${JSON.stringify(name.slice(0, 24))} is just a name`, async () => {
          const key = newKey(name);
          const body = Buffer.from(`body of ${name}`);
          await stage(key, body);
          await store.finishPut(key);
          await assertReads(key, body);
        });
      }

      test("that differ only in composition are two objects", async () => {
        const [composed, decomposed] = [newKey("\u00e9"), newKey("e\u0301")];
        await stage(composed, Buffer.from("one"));
        await stage(decomposed, Buffer.from("two"));
        await store.finishPut(composed);
        await store.finishPut(decomposed);
        await assertReads(composed, Buffer.from("one"));
        await assertReads(decomposed, Buffer.from("two"));
      });
    });

    describe("deleting", () => {
      test("removes staged and final objects, and unknown keys count as removed", async () => {
        const [staged, final] = [newKey(), newKey()];
        await stage(staged, Buffer.from("staged"));
        await stage(final, Buffer.from("final"));
        await store.finishPut(final);
        for (let i = 0; i < 2; i++) await store.delete([staged, final, newKey("unknown")]);
        await assertNothing(staged);
        assert.equal(await store.head(final), null);
        assert.equal(await store.read(final), null);
        assert.equal(await store.findReceived(final), null);
      });

      test("outlives a URL that is still valid", async () => {
        const key = newKey();
        const url = await stage(key, Buffer.from("dead!"));
        await store.finishPut(key);
        await store.delete([key]);
        assert.equal((await put(url, "alive", { "content-type": type })).status, traits.latePut.afterDelete);
        assert.equal(await store.head(key), null);
        assert.equal(await store.read(key), null);
      });

      test("removes a multipart object", async () => {
        const upload = await startUpload([3]);
        await upload.finish();
        await store.delete([upload.key]);
        assert.equal(await store.read(upload.key), null);
      });
    });

    describe("bytes the service writes itself", () => {
      test("are final at once and replace what was there", async () => {
        const key = newKey("variant");
        const first = await store.write(key, Buffer.from("first"), { contentType: "image/webp" });
        assert.deepEqual(await store.head(key), first);
        const second = await store.write(key, Buffer.from("second!"), { contentType: "image/webp" });
        assert.notEqual(second.etag, first.etag);
        assert.equal(second.sizeBytes, 7);
        await assertReads(key, Buffer.from("second!"));
      });

      test("come back after a deletion", async () => {
        const key = newKey("variant");
        await store.write(key, Buffer.from("one"), { contentType: "image/webp" });
        await store.delete([key]);
        await store.write(key, Buffer.from("two"), { contentType: "image/webp" });
        await assertReads(key, Buffer.from("two"));
      });
    });

    /** An upload of parts, each the least size plus `extraBytes`, all but the last sent in the order given. */
    async function startUpload(extraBytes: number[], order = extraBytes.map((_, index) => index)) {
      const key = newKey("multipart");
      const bodies = extraBytes.map((extra, index) =>
        randomBytes(index === extraBytes.length - 1 ? extra : traits.minPartBytes + extra),
      );
      const sizeBytes = bodies.reduce((sum, body) => sum + body.length, 0);
      const uploadId = await store.startMultipart({ key, contentType: type, sizeBytes });
      const partNumbers = bodies.map((_, index) => index + 1);
      const urls = await store.presignParts({ key, uploadId, sizeBytes, partNumbers, expiresInSec: 60 });
      const parts: { partNumber: number; etag: string }[] = [];
      for (const index of order) {
        const { status, etag } = await put(urls[index] ?? "", bodies[index] ?? "");
        assert.equal(status, 200);
        parts.push({ partNumber: index + 1, etag });
      }
      parts.sort((a, b) => a.partNumber - b.partNumber);
      const finish = (claimed = parts, size = sizeBytes) =>
        store.finishMultipart({ key, uploadId, sizeBytes: size, parts: claimed });
      return { key, uploadId, urls, bodies, parts, sizeBytes, whole: Buffer.concat(bodies), finish };
    }

    describe("multipart", () => {
      test("assembles parts that arrived in any order", async () => {
        const upload = await startUpload([10, 0, 7], [2, 0, 1]);
        const listed = await store.listParts(upload);
        assert.deepEqual(
          listed?.map((part) => [part.partNumber, part.sizeBytes]),
          upload.bodies.map((body, index) => [index + 1, body.length]),
        );
        assert.deepEqual(
          listed?.map((part) => part.etag),
          upload.parts.map((part) => part.etag.replaceAll('"', "")),
        );
        assert.equal((await store.findReceived(upload.key))?.sizeBytes, upload.sizeBytes);
        assert.equal(await store.head(upload.key), null);
        assert.equal(await store.read(upload.key), null);

        const result = await upload.finish();
        assert.ok(result.ok);
        assert.equal(result.object.sizeBytes, upload.sizeBytes);
        assert.deepEqual(await store.head(upload.key), result.object);
        await assertReads(upload.key, upload.whole);
      });

      test("finishing again succeeds, and the upload is then unknown", async () => {
        const upload = await startUpload([1, 2]);
        const first = await upload.finish();
        assert.ok(first.ok);
        assert.deepEqual(await upload.finish(), first);
        if (traits.keepsFinishedUploads !== true) assert.equal(await store.listParts(upload), null);
      });

      test("etags may come without quotes", async () => {
        const upload = await startUpload([1, 2]);
        const bare = upload.parts.map((part) => ({ ...part, etag: part.etag.replaceAll('"', "") }));
        assert.equal((await upload.finish(bare)).ok, true);
      });

      test("a part may be sent again, and the last one wins", async () => {
        const upload = await startUpload([1, 5]);
        const again = randomBytes(upload.bodies[0]?.length ?? 0);
        const { etag } = await put(upload.urls[0] ?? "", again);
        assert.notEqual(etag, upload.parts[0]?.etag);
        const stale = await upload.finish();
        assert.deepEqual([stale.ok, stale.ok || stale.problem], [false, "wrong-etag"]);
        assert.ok((await upload.finish([{ partNumber: 1, etag }, ...upload.parts.slice(1)])).ok);
        await assertReads(upload.key, Buffer.concat([again, ...upload.bodies.slice(1)]));
      });

      test("a cut-off part is not listed", async () => {
        const upload = await startUpload([1, 400_000], [0]);
        await sendRaw(upload.urls[1] ?? "", ["Content-Length: 400000"], randomBytes(1000), { end: "reset" });
        assert.deepEqual(
          (await store.listParts(upload))?.map((part) => part.partNumber),
          [1],
        );
      });

      test("a failed finish says why and leaves the upload open", async () => {
        const upload = await startUpload([1, 2]);
        const [first] = upload.parts;
        assert.ok(first);
        const problemOf = async (claimed: { partNumber: number; etag: string }[], size?: number) => {
          const result = await upload.finish(claimed, size);
          return result.ok ? "none" : result.problem;
        };
        assert.equal(await problemOf([...upload.parts, { partNumber: 9, etag: first.etag }]), "missing-part");
        assert.equal(
          await problemOf([first, { partNumber: 2, etag: '"ffffffffffffffffffffffffffffffff"' }]),
          "wrong-etag",
        );
        assert.equal(await problemOf([first]), "wrong-size");
        assert.equal(await problemOf(upload.parts, upload.sizeBytes + 1), "wrong-size");
        assert.ok((await upload.finish()).ok);
        await assertReads(upload.key, upload.whole);
      });

      test("leaves out parts that were not claimed", async () => {
        const upload = await startUpload([0, 0, 6], [0]);
        const tail = randomBytes(upload.sizeBytes - (upload.bodies[0]?.length ?? 0));
        const spare = await put(upload.urls[1] ?? "", randomBytes(0));
        assert.equal(spare.status, 200);
        const { etag } = await put(upload.urls[2] ?? "", tail);
        const result = await upload.finish([...upload.parts, { partNumber: 3, etag }]);
        assert.equal(result.ok, traits.needsEveryPart !== true);
        if (result.ok) await assertReads(upload.key, Buffer.concat([upload.bodies[0] ?? Buffer.of(), tail]));
      });

      test("an unknown upload is unknown", async () => {
        const ref = { key: newKey(), uploadId: "unknown" };
        assert.equal(await store.listParts(ref), null);
        const result = await store.finishMultipart({
          ...ref,
          sizeBytes: 1,
          parts: [{ partNumber: 1, etag: "x" }],
        });
        assert.deepEqual([result.ok, result.ok || result.problem], [false, "unknown-upload"]);
        await store.abortMultipart(ref);
        const upload = await startUpload([3]);
        assert.equal(await store.listParts({ key: newKey(), uploadId: upload.uploadId }), null);
      });

      test("takes nothing more once it was aborted", async () => {
        const upload = await startUpload([1, 2]);
        for (let i = 0; i < 2; i++) await store.abortMultipart(upload);
        assert.equal(await store.listParts(upload), null);
        assert.equal(await store.findReceived(upload.key), null);
        assert.equal(
          (await put(upload.urls[0] ?? "", upload.bodies[0] ?? "")).status,
          traits.latePut.partAfterEnd,
        );
        const result = await upload.finish();
        assert.deepEqual([result.ok, result.ok || result.problem], [false, "unknown-upload"]);
        assert.equal(await store.read(upload.key), null);
      });

      test("takes nothing more once it is finished", async () => {
        const upload = await startUpload([1, 2]);
        await upload.finish();
        const late = await put(upload.urls[0] ?? "", randomBytes(upload.bodies[0]?.length ?? 0));
        if (traits.keepsFinishedUploads === true) {
          const found = await readAll(store, upload.key).catch(() => null);
          assert.ok(found === null || found.equals(upload.whole));
          return;
        }
        assert.equal(late.status, traits.latePut.partAfterEnd);
        await store.abortMultipart(upload);
        await assertReads(upload.key, upload.whole);
      });

      test("parts that exceed the file, alone or together, never become an object", async () => {
        const upload = await startUpload([1, 2]);
        const tooLarge = await put(upload.urls[1] ?? "", randomBytes(upload.sizeBytes + 1));
        const tooMuch = await put(upload.urls[1] ?? "", randomBytes(3));
        if (traits.capsParts) assert.deepEqual([tooLarge.status, tooMuch.status], [403, 403]);
        else {
          const claimed = [
            upload.parts[0] ?? { partNumber: 1, etag: "" },
            { partNumber: 2, etag: tooMuch.etag },
          ];
          assert.equal((await upload.finish(claimed)).ok, false);
        }
        assert.equal(await store.read(upload.key), null);
      });
    });

    describe("reading", () => {
      test("any range of a multipart object shows no seams", async () => {
        const upload = await startUpload([40, 70_000, 1, 90_000, 23]);
        await upload.finish();
        const positions = fc.nat({ max: upload.sizeBytes - 1 });
        await fc.assert(
          fc.asyncProperty(positions, positions, async (a, b) => {
            const [start, end] = a < b ? [a, b] : [b, a];
            const found = await readAll(store, upload.key, { start, end });
            assert.ok(found?.equals(upload.whole.subarray(start, end + 1)), `${start}-${end}`);
          }),
          { numRuns: traits.minPartBytes === 0 ? 60 : 8 },
        );
      });

      for (const sizeBytes of [1, 1000, 300_000]) {
        test(`any range of ${sizeBytes} bytes in one piece`, async () => {
          const key = newKey();
          const body = randomBytes(sizeBytes);
          await store.write(key, body, { contentType: type });
          const ranges = [
            [0, 0],
            [0, sizeBytes - 1],
            [sizeBytes - 1, sizeBytes - 1],
            [sizeBytes >> 1, sizeBytes - 1],
          ] as const;
          for (const [start, end] of ranges) {
            assert.deepEqual(await readAll(store, key, { start, end }), body.subarray(start, end + 1));
          }
        });
      }

      test("stops when its signal is aborted", async () => {
        const key = newKey();
        await store.write(key, randomBytes(4_000_000), { contentType: type });
        const abort = new AbortController();
        const stream = await store.read(key, { signal: abort.signal });
        assert.ok(stream instanceof Readable);
        stream.on("error", () => {});
        const closed = new Promise((resolve) => stream.once("close", resolve));
        abort.abort();
        await closed;
        assert.equal(stream.readableEnded, false);
      });
    });

    test("says that it can serve", () => store.check());
  });
}
