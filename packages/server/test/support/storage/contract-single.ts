import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { put, sendRaw, statusOf } from "./contract-client.ts";
import { type ContractSubject, contentType, newKey } from "./contract-subject.ts";

/** Files that arrive in one request. */
export function describeSinglePut(subject: ContractSubject): void {
  const { traits, presign, stage, assertReads, assertNothing } = subject;

  describe("a single PUT", () => {
    test("is staged, then final, with its size, etag and checksum", async () => {
      const key = newKey();
      const body = randomBytes(100_000);
      const startedAt = Date.now();
      await stage(key, body);
      assert.equal(await subject.store.head(key), null);
      assert.equal(await subject.store.read(key), null);
      const received = await subject.store.findReceived(key);
      assert.equal(received?.sizeBytes, body.length);
      // Stores with a clock of their own may round to seconds.
      assert.ok(Math.abs((received?.receivedAt ?? 0) - startedAt) < 60_000);

      const object = await subject.store.finishPut(key, body.length);
      assert.equal(object?.sizeBytes, body.length);
      assert.match(object?.etag ?? "", /^[^"\s]+$/);
      assert.ok(object?.sha256 === null || object?.sha256 === hash("sha256", body));
      assert.deepEqual(await subject.store.head(key), object);
      assert.equal((await subject.store.findReceived(key))?.sizeBytes, body.length);
      await assertReads(key, body);
    });

    test("answers with an ETag, and large bodies arrive whole", async () => {
      const key = newKey();
      const body = randomBytes(6_000_001);
      const answer = await put(await presign(key, body.length), body, { "content-type": contentType });
      assert.match(answer.etag, /^"[^"]+"$/);
      await subject.store.finishPut(key, body.length);
      await assertReads(key, body);
    });

    test("may be repeated, and the last complete body wins", async () => {
      const key = newKey();
      const url = await stage(key, Buffer.from("first"));
      assert.equal((await put(url, "other", { "content-type": contentType })).status, 200);
      await sendRaw(url, [`Content-Type: ${contentType}`, "Content-Length: 5"], "bad", { end: "reset" });
      const object = await subject.store.finishPut(key, 5);
      await assertReads(key, Buffer.from("other"));
      assert.notEqual(object?.etag, undefined);
    });

    test("different bytes have different etags, the same bytes the same", async () => {
      const etags: (string | undefined)[] = [];
      for (const body of ["same", "same", "else"]) {
        const key = newKey();
        await stage(key, Buffer.from(body));
        etags.push((await subject.store.finishPut(key, 4))?.etag);
      }
      assert.equal(etags[0], etags[1]);
      assert.notEqual(etags[0], etags[2]);
    });

    test("keeps bytes as they are, whatever Content-Encoding says", async () => {
      const key = newKey();
      const answer = await put(await presign(key, 4), "asis", {
        "content-type": contentType,
        "content-encoding": "gzip",
      });
      assert.equal(answer.status, 200);
      await subject.store.finishPut(key, 4);
      await assertReads(key, Buffer.from("asis"));
    });

    test("finishing twice, or by many at once, gives the same object", async () => {
      const key = newKey();
      await stage(key, Buffer.from("once"));
      const objects = await Promise.all(Array.from({ length: 8 }, () => subject.store.finishPut(key, 4)));
      objects.push(await subject.store.finishPut(key, 4));
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
      const another = ["text/html", contentType.toUpperCase(), `${contentType};charset=utf-8`];
      for (const type of another)
        assert.equal((await put(url, "abc", { "content-type": type })).status, 403, type);
      await assertNothing(key);
    });

    test("with another length is refused and keeps nothing", async () => {
      const key = newKey();
      const url = await presign(key, 3);
      for (const body of ["ab", "abcd", ""]) {
        assert.equal(
          (await put(url, body, { "content-type": contentType })).status,
          403,
          `${body.length} bytes`,
        );
      }
      await assertNothing(key);
    });

    test("without a length, chunked or not, is refused", async () => {
      const key = newKey();
      const url = await presign(key, 3);
      const chunked = await sendRaw(
        url,
        [`Content-Type: ${contentType}`, "Transfer-Encoding: chunked"],
        "3\r\nabc\r\n0\r\n\r\n",
      );
      const refusal = traits.withoutLength ?? 411;
      assert.equal(statusOf(chunked), refusal);
      assert.equal(statusOf(await sendRaw(url, [`Content-Type: ${contentType}`], "")), refusal);
      await assertNothing(key);
    });

    test("cut off in the middle keeps nothing", async () => {
      const key = newKey();
      const url = await presign(key, 500_000);
      const headers = [`Content-Type: ${contentType}`, "Content-Length: 500000"];
      for (const end of ["close", "reset"] as const)
        await sendRaw(url, headers, randomBytes(400_000), { end });
      // The server may take a moment to see that the client has gone.
      while ((await subject.store.findReceived(key)) !== null) await sleep(10);
      await assertNothing(key);
    });

    test("that goes on beyond its length keeps none of the rest", async () => {
      const key = newKey();
      const url = await presign(key, 5);
      await sendRaw(url, [`Content-Type: ${contentType}`, "Content-Length: 5"], "exactEXCESS");
      const object = await subject.store.finishPut(key, 5);
      if (object !== null) await assertReads(key, Buffer.from("exact"));
    });

    test("to an expired URL is refused", async () => {
      const key = newKey();
      const url = await presign(key, 3, 1);
      await sleep(2100);
      assert.equal((await put(url, "abc", { "content-type": contentType })).status, 403);
      await assertNothing(key);
    });

    test("never changes bytes that are final", async () => {
      const key = newKey();
      const url = await stage(key, Buffer.from("final"));
      const object = await subject.store.finishPut(key, 5);
      assert.equal(
        (await put(url, "later", { "content-type": contentType })).status,
        traits.latePut.afterFinish,
      );
      assert.deepEqual(await subject.store.head(key), object);
      await assertReads(key, Buffer.from("final"));
      assert.deepEqual(await subject.store.finishPut(key, 5), object);
      await assertReads(key, Buffer.from("final"));
    });
  });
}
