import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { describe, it } from "node:test";
import { type ObjectBytes, StorageFull, type StoredObject } from "../../ports/object-store.ts";
import { databaseKinds, openTestStore } from "./open-test-store.ts";

const bytes = randomBytes(200_000);
const written = { sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };

const recordNothing = async (_: unknown, object: StoredObject) => object;

async function readAll(source: ObjectBytes | null): Promise<Buffer> {
  assert.ok(source !== null);
  return Buffer.isBuffer(source) ? source : buffer(source);
}

for (const kind of databaseKinds) {
  describe(`drafts on ${kind}`, () => {
    it("what another process wrote becomes the object, and its file can be found", async () => {
      await using opened = await openTestStore(kind);
      const { store } = opened;
      const draft = await store.openDraft();
      await writeFile(draft.path, bytes);
      const object = await draft.keep("variant", written, recordNothing);
      await draft.discard();
      assert.deepEqual(object, await store.head("variant"));
      assert.equal(object.sha256, written.sha256);
      assert.ok((await readAll(await store.read("variant"))).equals(bytes));
      const file = await store.findFile("variant");
      assert.deepEqual([file?.sizeBytes, await opened.listFiles()], [bytes.length, [file?.path]]);
    });

    it("what is not kept is removed, and takes no name that another needs", async () => {
      await using opened = await openTestStore(kind);
      const { store, listFiles } = opened;
      const draft = await store.openDraft();
      const other = await store.openDraft();
      assert.notEqual(draft.path, other.path);
      await writeFile(draft.path, bytes);
      assert.equal((await listFiles()).length, 1);
      await draft.discard();
      assert.deepEqual(await listFiles(), []);
      await other.discard();
    });

    it("an object and what else is recorded come together or not at all", async () => {
      await using opened = await openTestStore(kind);
      const { store, listFiles } = opened;
      const draft = await store.openDraft();
      await writeFile(draft.path, bytes);
      const refused = draft.keep("variant", written, async () => {
        throw new Error("no room for the record");
      });
      await assert.rejects(refused, /no room for the record/);
      await draft.discard();
      assert.equal(await store.head("variant"), null);
      await store.sweep({ graceMs: 0, maxDeletions: 10, now: Date.now() + 1000 });
      assert.deepEqual(await listFiles(), []);
    });

    it("a draft replaces what its key had", async () => {
      await using opened = await openTestStore(kind);
      const { store, listFiles } = opened;
      await store.write("variant", randomBytes(50_000), { contentType: "image/png" });
      const draft = await store.openDraft();
      await writeFile(draft.path, bytes);
      await draft.keep("variant", written, recordNothing);
      assert.ok((await readAll(await store.read("variant"))).equals(bytes));
      assert.equal((await listFiles()).length, 1);
    });

    it("a sweep leaves a draft alone that is being written", async () => {
      await using opened = await openTestStore(kind);
      const { store, listFiles } = opened;
      const draft = await store.openDraft();
      await writeFile(draft.path, bytes);
      const later = { graceMs: 0, maxDeletions: 10, now: Date.now() + 7 * 24 * 3_600_000 };
      await store.sweep(later);
      assert.deepEqual(await listFiles(), [draft.path]);
      await draft.keep("variant", written, recordNothing);
    });

    it("a draft that nobody wrote, or that lies about itself, is no object for long", async () => {
      await using opened = await openTestStore(kind);
      const { store, damages } = opened;
      const missing = await store.openDraft();
      await missing.keep("missing", written, recordNothing);
      assert.equal(await store.read("missing"), null);
      const short = await store.openDraft();
      await writeFile(short.path, bytes.subarray(1));
      await short.keep("short", written, recordNothing);
      assert.equal(await store.read("short"), null);
      assert.deepEqual(
        damages.map(({ key, reason }) => [key, reason]),
        [
          ["missing", "missing"],
          ["short", "wrong-size"],
        ],
      );
    });
  });
}

it("no draft is begun on a disk that is full", async () => {
  await using opened = await openTestStore("sqlite", { minFreeBytes: Number.MAX_SAFE_INTEGER });
  await assert.rejects(opened.store.openDraft(), StorageFull);
});

it("files of small objects, which are checked whenever they are read here, are not given away", async () => {
  await using opened = await openTestStore("sqlite", { largestRowBytes: 1000 });
  const { store } = opened;
  for (const [key, sizeBytes] of [
    ["row", 1000],
    ["small", 128 * 1024],
    ["file", 128 * 1024 + 1],
  ] as const) {
    await store.write(key, randomBytes(sizeBytes), { contentType: "image/png" });
  }
  assert.equal(await store.findFile("row"), null);
  assert.equal(await store.findFile("small"), null);
  assert.equal(await store.findFile("absent"), null);
  assert.equal((await store.findFile("file"))?.sizeBytes, 128 * 1024 + 1);
  assert.equal((await store.openDraft()).leastBytes, 1001);
});
