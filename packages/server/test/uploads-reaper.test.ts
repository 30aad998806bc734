import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { statement } from "../src/db/statement.ts";
import type { Deps } from "../src/deps.ts";
import { signParts } from "../src/files/uploads/multipart.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { repeatUpload } from "../src/files/uploads/request-upload.ts";
import type { Actor } from "../src/kernel/actor.ts";
import { type ObjectStore, StorageUnavailable } from "../src/storage/object-store.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { put, smallBody, type UploadClient } from "./support/upload-client.ts";
import { createUploader, keepReaperAway, listLogTypes, statusOf } from "./support/upload-life.ts";
import { actMeanwhile, failKeepingBytes, findReapAt } from "./support/upload-moments.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const moveToStore = statement((q, p: { id: string; store: string }) =>
  q.updateTable("file").set({ store: p.store }).where("id", "=", p.id),
);

onBothDatabases("an upload that the reaper looks at", (database) => {
  let app: TestApp;
  let deps: Deps;
  let projectId: string;
  let client: UploadClient;
  let actor: Actor;
  before(async () => {
    app = await startApp({ database });
    deps = app.app.deps;
    await keepReaperAway(app);
  });
  after(() => app.close());
  beforeEach(async () => {
    ({ projectId, client, actor } = await createUploader(app));
  });

  const requestAndPut = async () => {
    const upload = await client.request();
    assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
    return upload;
  };
  const reapAtOf = (id: string) => findReapAt(deps, id);
  const at = (now: number): Deps => ({ ...deps, now: () => now });
  const meanwhile = (act: () => Promise<unknown>) => actMeanwhile(deps, act);
  const failWithBytes = (id: string) => failKeepingBytes(deps, actor, id);

  // What the other tests left open ends first, so that each counts its own.
  beforeEach(() => reapAbandonedUploads(at(deps.now() + 30 * dayMs)));

  it("ends at the very moment, a day after its bytes came, and is put off until then", async () => {
    const upload = await requestAndPut();
    const received = await deps.store.findReceived(upload.key);
    assert.ok(received);
    const endsAt = received.receivedAt + dayMs;
    assert.equal(await reapAbandonedUploads(at(await reapAtOf(upload.fileId))), 0);
    assert.equal(await reapAtOf(upload.fileId), endsAt);
    assert.equal(await reapAbandonedUploads(at(endsAt - 1)), 0);
    assert.equal(await reapAbandonedUploads(at(endsAt)), 1);
    assert.equal(await deps.store.findReceived(upload.key), null);
    assert.equal(await statusOf(client, upload.key), "FAILED");
    assert.deepEqual(await listLogTypes(app, upload.fileId), ["upload.requested", "upload.failed"]);
    await assertCountersMatch(app, projectId, { live: 0 });
  });

  it("has as long as its URLs where no part came, and a week after its last part", async () => {
    const [empty, begun] = [await client.init(), await client.init()];
    const now = deps.now() + minuteMs;
    await signParts(at(now), actor, { ...empty, partNumbers: [1] });
    assert.equal(await reapAtOf(empty.fileId), now + 65 * minuteMs);
    assert.equal((await put(begun.parts[0]?.uploadUrl ?? "", smallBody)).status, 200);
    const [part] = (await deps.store.listParts(begun)) ?? [];
    assert.ok(part);
    assert.equal(await reapAbandonedUploads(at(now + 65 * minuteMs)), 1);
    assert.equal(await statusOf(client, empty.key), "FAILED");
    assert.equal(await reapAtOf(begun.fileId), part.receivedAt + 7 * dayMs);
    await signParts(at(now + dayMs), actor, { ...begun, partNumbers: [2] });
    assert.equal(await reapAtOf(begun.fileId), now + 8 * dayMs);
    assert.equal(await reapAbandonedUploads(at(now + 8 * dayMs)), 1);
    assert.equal(await statusOf(client, begun.key), "FAILED");
  });

  it("is signed no more where it was given up meanwhile, and is where it has longer anyway", async () => {
    const [ended, repeated, open] = [await client.init(), await client.init(), await client.init()];
    const givenUp = (id: string) => meanwhile(() => failWithBytes(id));
    const signing = signParts(givenUp(ended.fileId), actor, { ...ended, partNumbers: [1] });
    await assert.rejects(signing, { code: "NOT_FOUND" });
    const repeating = repeatUpload(givenUp(repeated.fileId), actor, repeated.fileId, 3600);
    await assert.rejects(repeating, { code: "NOT_FOUND" });

    const reapAt = await reapAtOf(open.fileId);
    const earlier = at(reapAt - dayMs);
    assert.equal((await signParts(earlier, actor, { ...open, partNumbers: [1] })).length, 1);
    assert.equal((await repeatUpload(earlier, actor, open.fileId, 3600)).id, open.fileId);
    assert.equal(await reapAtOf(open.fileId), reapAt);
  });

  it("is not counted where it was deleted meanwhile", async () => {
    const upload = await client.request();
    const now = await reapAtOf(upload.fileId);
    const deleted = meanwhile(() => client.remove(upload.key));
    assert.equal(await reapAbandonedUploads({ ...deleted, now: () => now }), 0);
    assert.equal(await statusOf(client, upload.key), "404");
    await assertCountersMatch(app, projectId, { live: 0 });
  });

  it("is put off where that fails, and does not stand in front of the others", async () => {
    const broken = [];
    for (let count = 0; count < 20; count++) broken.push(await client.request());
    const last = await client.request();
    const now = await reapAtOf(last.fileId);
    const failing = new Set(broken.map(({ key }) => key));
    const isArriving = (key: string) => {
      if (failing.has(key)) throw new StorageUnavailable("refused");
      return false;
    };
    const get = async (name: string): Promise<ObjectStore> => ({
      ...(await deps.stores.get(name)),
      arrivals: { isArriving },
    });
    const troubled = { ...at(now), stores: { get } };
    await assert.rejects(reapAbandonedUploads(troubled), StorageUnavailable);
    assert.equal(await statusOf(client, last.key), "UPLOADING");
    assert.equal(await reapAbandonedUploads(troubled), 1);
    assert.equal(await statusOf(client, last.key), "FAILED");
    assert.equal(await reapAbandonedUploads(at(now + 10 * minuteMs - 1)), 0);
    assert.equal(await reapAbandonedUploads(at(now + 10 * minuteMs)), 20);
    await assertCountersMatch(app, projectId, { live: 0 });
  });

  it("ends too where nobody knows its store any more", async () => {
    const upload = await client.request();
    assert.equal(await deps.db.run(moveToStore, { id: upload.fileId, store: "removed" }), 1);
    assert.equal(await reapAbandonedUploads(at(await reapAtOf(upload.fileId))), 1);
    assert.equal(await statusOf(client, upload.key), "FAILED");
    await assertCountersMatch(app, projectId, { live: 0 });
  });
});
