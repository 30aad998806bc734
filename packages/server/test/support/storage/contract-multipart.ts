import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { put, readAll, sendRaw } from "./contract-client.ts";
import { type ContractSubject, newKey } from "./contract-subject.ts";

/** Files that arrive in parts. */
export function describeMultipart(subject: ContractSubject): void {
  const { traits, assertReads, startUpload } = subject;

  describe("multipart", () => {
    test("assembles parts that arrived in any order", async () => {
      const upload = await startUpload([10, 0, 7], [2, 0, 1]);
      const listed = await subject.store.listParts(upload);
      assert.deepEqual(
        listed?.map((part) => [part.partNumber, part.sizeBytes]),
        upload.bodies.map((body, index) => [index + 1, body.length]),
      );
      assert.deepEqual(
        listed?.map((part) => part.etag),
        upload.parts.map((part) => part.etag.replaceAll('"', "")),
      );
      assert.equal((await subject.store.findReceived(upload.key))?.sizeBytes, upload.sizeBytes);
      assert.equal(await subject.store.head(upload.key), null);
      assert.equal(await subject.store.read(upload.key), null);

      const result = await upload.finish();
      assert.ok(result.ok);
      assert.equal(result.object.sizeBytes, upload.sizeBytes);
      assert.deepEqual(await subject.store.head(upload.key), result.object);
      await assertReads(upload.key, upload.whole);
    });

    test("finishing again succeeds, and the upload is then unknown", async () => {
      const upload = await startUpload([1, 2]);
      const first = await upload.finish();
      assert.ok(first.ok);
      assert.deepEqual(await upload.finish(), first);
      if (traits.keepsFinishedUploads !== true) assert.equal(await subject.store.listParts(upload), null);
    });

    test("etags may come without quotes", async () => {
      const upload = await startUpload([1, 2]);
      const bare = upload.parts.map((part) => ({ ...part, etag: part.etag.replaceAll('"', "") }));
      assert.equal((await upload.finish(bare)).ok, true);
    });

    test("a part may be sent again, and the last one wins", async () => {
      const upload = await startUpload([1, 5]);
      // Random bytes would be the same now and then: the part may have only one.
      const again = Buffer.from(upload.bodies[0] ?? "").map((byte) => ~byte);
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
        (await subject.store.listParts(upload))?.map((part) => part.partNumber),
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
      assert.equal(await subject.store.listParts(ref), null);
      const result = await subject.store.finishMultipart({
        ...ref,
        sizeBytes: 1,
        parts: [{ partNumber: 1, etag: "x" }],
      });
      assert.deepEqual([result.ok, result.ok || result.problem], [false, "unknown-upload"]);
      await subject.store.abortMultipart(ref);
      const upload = await startUpload([3]);
      assert.equal(await subject.store.listParts({ key: newKey(), uploadId: upload.uploadId }), null);
    });

    test("takes nothing more once it was aborted", async () => {
      const upload = await startUpload([1, 2]);
      for (let i = 0; i < 2; i++) await subject.store.abortMultipart(upload);
      assert.equal(await subject.store.listParts(upload), null);
      assert.equal(await subject.store.findReceived(upload.key), null);
      assert.equal(
        (await put(upload.urls[0] ?? "", upload.bodies[0] ?? "")).status,
        traits.latePut.partAfterEnd,
      );
      const result = await upload.finish();
      assert.deepEqual([result.ok, result.ok || result.problem], [false, "unknown-upload"]);
      assert.equal(await subject.store.read(upload.key), null);
    });

    test("takes nothing more once it is finished", async () => {
      const upload = await startUpload([1, 2]);
      await upload.finish();
      const late = await put(upload.urls[0] ?? "", randomBytes(upload.bodies[0]?.length ?? 0));
      if (traits.keepsFinishedUploads === true) {
        const found = await readAll(subject.store, upload.key).catch(() => null);
        assert.ok(found === null || found.equals(upload.whole));
        return;
      }
      assert.equal(late.status, traits.latePut.partAfterEnd);
      await subject.store.abortMultipart(upload);
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
      assert.equal(await subject.store.read(upload.key), null);
    });
  });
}
