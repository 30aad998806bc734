import assert from "node:assert/strict";
import { test } from "node:test";
import { isQuickRun } from "../../../../../test/support/quick-run.ts";
import { put, readAll } from "../../../test/support/storage/contract-client.ts";
import {
  databaseKinds,
  openTestStore,
  type TestStore,
} from "../../../test/support/storage/open-disk-store.ts";
import { largestRowBytes } from "./small-blobs.ts";

const rounds = isQuickRun ? 10 : 40;
const putters = 5;
const type = "text/plain";

const places = [
  { place: "files", settings: {}, list: ({ listFiles }: TestStore) => listFiles() },
  { place: "rows", settings: { largestRowBytes }, list: ({ listRows }: TestStore) => listRows() },
];

for (const kind of databaseKinds) {
  for (const { place, settings, list } of places) {
    test(`bytes never change once finishPut has answered, in ${place} on ${kind}`, async () => {
      await using opened = await openTestStore(kind, settings);
      const { store } = opened;
      for (let round = 0; round < rounds; round++) {
        const key = `race/${round}`;
        const url = await store.presignPut({ key, contentType: type, sizeBytes: 6, expiresInSec: 60 });
        const acknowledged = new Set<string>();
        const send = async (body: string) => {
          if ((await put(url, body, { "content-type": type })).status === 200) acknowledged.add(body);
        };
        await send("body-0");
        const sending = Array.from({ length: putters }, (_, index) => send(`body-${index + 1}`));
        const object = await store.finishPut(key, 6);
        const atFinish = String(await readAll(store, key));
        await Promise.all(sending);

        assert.ok(object);
        assert.equal(String(await readAll(store, key)), atFinish);
        assert.deepEqual(await store.head(key), object);
        assert.ok(acknowledged.has(atFinish), `${atFinish} was served but not acknowledged`);
        assert.equal((await put(url, "body-9", { "content-type": type })).status, 403);
      }
      assert.equal((await list(opened)).length, rounds, "replaced and refused bodies leave nothing behind");
    });
  }

  test(`a part that is sent again during finishMultipart changes nothing afterwards, on ${kind}`, async () => {
    await using opened = await openTestStore(kind);
    const { store, listFiles } = opened;
    for (let round = 0; round < rounds; round++) {
      const key = `race/${round}`;
      const uploadId = await store.startMultipart({ key, contentType: type, sizeBytes: 6 });
      const presign = { key, uploadId, sizeBytes: 6, partNumbers: [1, 2], expiresInSec: 60 };
      const [first = "", second = ""] = await store.presignParts(presign);
      const parts = [
        { partNumber: 1, etag: (await put(first, "abc")).etag },
        { partNumber: 2, etag: (await put(second, "def")).etag },
      ];
      const sending = ["xyz", "uvw"].map((body) => put(second, body));
      const result = await store.finishMultipart({ key, uploadId, sizeBytes: 6, parts });
      await Promise.all(sending);
      if (result.ok) assert.equal(String(await readAll(store, key)), "abcdef");
      else {
        assert.equal(result.problem, "wrong-etag");
        await store.abortMultipart({ key, uploadId });
      }
      await store.delete([key]);
    }
    assert.deepEqual(await listFiles(), []);
  });
}
