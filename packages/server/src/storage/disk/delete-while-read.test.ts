import assert from "node:assert/strict";
import { test } from "node:test";
import { put } from "../../../test/support/storage/contract-client.ts";
import {
  databaseKinds,
  openTestStore,
  type TestStore,
} from "../../../test/support/storage/open-disk-store.ts";
import type { ObjectStream } from "../object-store.ts";

const bodies = ["one,", "two,", "three,", "four"];
const whole = bodies.join("");

async function storeParts({ store }: TestStore, key: string): Promise<void> {
  const sizeBytes = whole.length;
  const uploadId = await store.startMultipart({ key, contentType: "text/plain", sizeBytes });
  const partNumbers = bodies.map((_, i) => i + 1);
  const urls = await store.presignParts({ key, uploadId, sizeBytes, partNumbers, expiresInSec: 60 });
  const parts = await Promise.all(
    bodies.map(async (body, i) => ({ partNumber: i + 1, etag: (await put(urls[i] ?? "", body)).etag })),
  );
  assert.ok((await store.finishMultipart({ key, uploadId, sizeBytes, parts })).ok);
}

for (const kind of databaseKinds) {
  test(`who has begun to read gets every part, although they are deleted meanwhile, on ${kind}`, {
    timeout: 60_000,
  }, async () => {
    await using opened = await openTestStore(kind);
    const { store, listFiles, damages } = opened;
    await storeParts(opened, "parts");
    const readers = (await Promise.all([1, 2].map(() => store.read("parts")))) as ObjectStream[];
    const left = (await store.read("parts")) as ObjectStream;
    await store.delete(["parts"]);
    assert.equal(await store.read("parts"), null);
    left.destroy();
    for (const reader of readers) {
      const chunks: Buffer[] = [];
      for await (const chunk of reader as AsyncIterable<Buffer>) chunks.push(Buffer.from(chunk));
      assert.equal(Buffer.concat(chunks).toString(), whole);
    }
    while ((await listFiles()).length > 0) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(damages, []);
  });
}
