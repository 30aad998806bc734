import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import fc from "fast-check";
import { readAll } from "./contract-client.ts";
import { type ContractSubject, contentType, newKey } from "./contract-subject.ts";

/** Whole objects and ranges of them. */
export function describeReading(subject: ContractSubject): void {
  const { traits, startUpload } = subject;

  describe("reading", () => {
    test("any range of a multipart object shows no seams", async () => {
      const upload = await startUpload([40, 70_000, 1, 90_000, 23]);
      await upload.finish();
      const positions = fc.nat({ max: upload.sizeBytes - 1 });
      await fc.assert(
        fc.asyncProperty(positions, positions, async (a, b) => {
          const [start, end] = a < b ? [a, b] : [b, a];
          const found = await readAll(subject.store, upload.key, { start, end });
          assert.ok(found?.equals(upload.whole.subarray(start, end + 1)), `${start}-${end}`);
        }),
        { numRuns: traits.minPartBytes === 0 ? 60 : 8 },
      );
    });

    for (const sizeBytes of [1, 1000, 300_000]) {
      test(`any range of ${sizeBytes} bytes in one piece`, async () => {
        const key = newKey();
        const body = randomBytes(sizeBytes);
        await subject.store.write(key, body, { contentType });
        const ranges = [
          [0, 0],
          [0, sizeBytes - 1],
          [sizeBytes - 1, sizeBytes - 1],
          [sizeBytes >> 1, sizeBytes - 1],
        ] as const;
        for (const [start, end] of ranges) {
          assert.deepEqual(await readAll(subject.store, key, { start, end }), body.subarray(start, end + 1));
        }
      });
    }

    test("stops when its signal is aborted", async () => {
      const key = newKey();
      await subject.store.write(key, randomBytes(4_000_000), { contentType });
      const abort = new AbortController();
      const stream = await subject.store.read(key, { signal: abort.signal });
      assert.ok(stream instanceof Readable);
      stream.on("error", () => {});
      const closed = new Promise((resolve) => stream.once("close", resolve));
      abort.abort();
      await closed;
      assert.equal(stream.readableEnded, false);
    });
  });
}
