import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { put } from "./contract-client.ts";
import { type ContractSubject, contentType, newKey } from "./contract-subject.ts";

/** What objects are called, how they go, and those that come from the service. */
export function describeObjects(subject: ContractSubject): void {
  const { traits, stage, assertReads, assertNothing, startUpload } = subject;

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
        await subject.store.finishPut(key, body.length);
        await assertReads(key, body);
      });
    }

    test("that differ only in composition are two objects", async () => {
      const [composed, decomposed] = [newKey("\u00e9"), newKey("e\u0301")];
      await stage(composed, Buffer.from("one"));
      await stage(decomposed, Buffer.from("two"));
      await subject.store.finishPut(composed, 3);
      await subject.store.finishPut(decomposed, 3);
      await assertReads(composed, Buffer.from("one"));
      await assertReads(decomposed, Buffer.from("two"));
    });
  });

  describe("deleting", () => {
    test("removes staged and final objects, and unknown keys count as removed", async () => {
      const [staged, final] = [newKey(), newKey()];
      await stage(staged, Buffer.from("staged"));
      await stage(final, Buffer.from("final"));
      await subject.store.finishPut(final, 5);
      for (let i = 0; i < 2; i++) await subject.store.delete([staged, final, newKey("unknown")]);
      await assertNothing(staged);
      assert.equal(await subject.store.head(final), null);
      assert.equal(await subject.store.read(final), null);
      assert.equal(await subject.store.findReceived(final), null);
    });

    test("outlives a URL that is still valid", async () => {
      const key = newKey();
      const url = await stage(key, Buffer.from("dead!"));
      await subject.store.finishPut(key, 5);
      await subject.store.delete([key]);
      assert.equal(
        (await put(url, "alive", { "content-type": contentType })).status,
        traits.latePut.afterDelete,
      );
      assert.equal(await subject.store.head(key), null);
      assert.equal(await subject.store.read(key), null);
    });

    test("removes a multipart object", async () => {
      const upload = await startUpload([3]);
      await upload.finish();
      await subject.store.delete([upload.key]);
      assert.equal(await subject.store.read(upload.key), null);
    });
  });

  describe("bytes the service writes itself", () => {
    test("are final at once and replace what was there", async () => {
      const key = newKey("variant");
      const first = await subject.store.write(key, Buffer.from("first"), { contentType: "image/webp" });
      assert.deepEqual(await subject.store.head(key), first);
      const second = await subject.store.write(key, Buffer.from("second!"), { contentType: "image/webp" });
      assert.notEqual(second.etag, first.etag);
      assert.equal(second.sizeBytes, 7);
      await assertReads(key, Buffer.from("second!"));
    });

    test("stay the caller's, however many they are", async () => {
      for (const sizeBytes of [100, 1_000_000]) {
        const bytes = new Uint8Array(sizeBytes).fill(7);
        const key = newKey();
        await subject.store.write(key, bytes, { contentType: "image/webp" });
        assert.deepEqual([bytes.length, bytes.at(-1)], [sizeBytes, 7]);
        await assertReads(key, Buffer.from(bytes));
      }
    });

    test("come back after a deletion", async () => {
      const key = newKey("variant");
      await subject.store.write(key, Buffer.from("one"), { contentType: "image/webp" });
      await subject.store.delete([key]);
      await subject.store.write(key, Buffer.from("two"), { contentType: "image/webp" });
      await assertReads(key, Buffer.from("two"));
    });
  });
}
