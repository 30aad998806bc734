// What holds an upload together at its moments: somebody else acts between two steps, or a step fails.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Deps } from "../src/deps.ts";
import { completeMultipart, completeSingle } from "../src/files/uploads/finish-upload.ts";
import {
  findUpload,
  listAbandoned,
  markFailed,
  markUploaded,
  postponeReaping,
} from "../src/files/uploads/queries.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import type { Actor } from "../src/kernel/actor.ts";
import { notFound } from "../src/kernel/errors.ts";
import { updateRoute } from "../src/projects/file-routes/file-routes.ts";
import { listRoutes } from "../src/projects/file-routes/queries.ts";
import { expectError } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import { partPieces, put, putParts, smallBody, type UploadClient } from "./support/upload-client.ts";
import { createUploader, keepReaperAway, listLogTypes, statusOf } from "./support/upload-life.ts";
import { actMeanwhile, failKeepingBytes, findReapAt } from "./support/upload-moments.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const saveNothing = async () => {};

onBothDatabases("an upload", (database) => {
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
  const itOnDisk = onlyOnDisk("a bucket makes bytes final before the transaction");

  const requestAndPut = async (bytes = smallBody) => {
    const upload = await client.request();
    assert.equal((await put(upload.uploadUrl, bytes)).status, 200);
    return upload;
  };
  const reapAtOf = (id: string) => findReapAt(deps, id);
  const meanwhile = (act: () => Promise<unknown>) => actMeanwhile(deps, act);
  const failWithBytes = (id: string) => failKeepingBytes(deps, actor, id);

  describe("in the database", () => {
    it("is found by its own project and environment only, whatever has become of it", async () => {
      const { id } = await client.upload();
      const scope = { id, projectId, environment: "live" } as const;
      assert.equal((await deps.db.get(findUpload, scope))?.status, "UPLOADED");
      for (const other of [{ environment: "test" }, { projectId: app.owner.projectId }, { id: "x" }] as const)
        assert.equal(await deps.db.get(findUpload, { ...scope, ...other }), null);
    });

    it("is given more time, never less, and none once it has ended", async () => {
      const upload = await requestAndPut();
      const { fileId: id } = upload;
      await client.request();
      const reapAt = await reapAtOf(id);
      assert.equal(await deps.db.run(postponeReaping, { id, reapAt: reapAt - 1 }), 0);
      assert.equal(await deps.db.run(postponeReaping, { id, reapAt: reapAt + 1 }), 1);
      assert.equal(await reapAtOf(id), reapAt + 1);
      assert.equal((await client.complete(id)).status, 200);
      assert.equal(await deps.db.run(postponeReaping, { id, reapAt: reapAt + 2 }), 0);
    });

    it("is abandoned from the moment its time has come, if it is open then", async () => {
      const open = await client.request();
      const done = await client.upload();
      const reapAt = await reapAtOf(open.fileId);
      const file = await deps.db.get(findUpload, { id: open.fileId, projectId, environment: "live" });
      assert.equal(reapAt, (file?.created_at ?? 0) + 20 * minuteMs);
      const list = async (now: number) =>
        (await deps.db.all(listAbandoned, { now, take: 1000 })).map(({ id }) => id);
      assert.ok(!(await list(reapAt - 1)).includes(open.fileId));
      const abandoned = await list(reapAt);
      assert.ok(abandoned.includes(open.fileId));
      assert.ok(!(await list(reapAt + dayMs)).includes(done.id));
    });

    it("ends once: by a completion, or by the time that has come", async () => {
      const [one, two] = [await client.request(), await client.request()];
      const stored = {
        routeSlug: "default",
        sizeBytes: smallBody.length,
        sha256: null,
        etag: "e",
        ...{ metadata: "{}", metadataBefore: "{}" },
        ...{ claimBy: null, detectedType: null, factsDueAt: null, scan: null, scanDueAt: null },
        now: deps.now(),
      };
      const reapAt = await reapAtOf(one.fileId);
      assert.equal(await deps.db.run(markFailed, { id: one.fileId, now: reapAt - 1 }), 0);
      assert.equal(await deps.db.run(markFailed, { id: one.fileId, now: reapAt }), 1);
      assert.equal(await deps.db.run(markFailed, { id: one.fileId, now: reapAt }), 0);
      const complete = (id: string) => deps.db.transact((tx) => markUploaded(tx, { id, ...stored }));
      assert.equal(await complete(one.fileId), false);
      assert.equal(await complete(two.fileId), true);
      assert.equal(await complete(two.fileId), false);
      assert.equal(await deps.db.run(markFailed, { id: two.fileId, now: reapAt + dayMs }), 0);
    });
  });

  describe("that is being completed", () => {
    const complete = (given: Deps, fileId: string, onSaved = saveNothing) =>
      completeSingle(given, actor, { fileId }, onSaved);

    it("is not found, rather than not arrived, where it was deleted meanwhile", async () => {
      const upload = await requestAndPut();
      const deleted = meanwhile(() => client.remove(upload.key));
      await assert.rejects(complete(deleted, upload.fileId), { code: "NOT_FOUND" });
      const inParts = await client.init();
      const parts = await putParts(inParts, partPieces());
      const aborted = meanwhile(() => client.abort(inParts));
      const late = completeMultipart(aborted, actor, { ...inParts, parts }, saveNothing);
      await assert.rejects(late, { code: "NOT_FOUND" });
      await assertCountersMatch(app, projectId, { live: 0 });
    });

    it("goes by its row and not by what the process remembers of its request", async () => {
      const [patched, renamed, removed, failed, empty] = await Promise.all([
        requestAndPut(),
        requestAndPut(),
        requestAndPut(),
        requestAndPut(),
        client.request(),
      ]);
      assert.equal((await client.patch(patched.key, { metadata: { v: 2 } })).status, 200);
      const { body } = await client.complete(patched.fileId);
      assert.deepEqual((body["file"] as { metadata: unknown }).metadata, { v: 2 });
      const [route] = await deps.db.all(listRoutes, { projectId, before: "~", take: 10 });
      await updateRoute(deps, actor, route?.id ?? "", { slug: "renamed" });
      assert.equal((await client.complete(renamed.fileId)).status, 200);
      const found = await deps.db.get(findUpload, { id: renamed.fileId, ...actor });
      assert.equal(found?.route_slug, "renamed");
      await client.remove(removed.key);
      expectError(await client.complete(removed.fileId), 404, "NOT_FOUND");
      await failWithBytes(failed.fileId);
      expectError(await client.complete(failed.fileId), 404, "NOT_FOUND");
      expectError(await client.complete(empty.fileId), 422, "FILE_NOT_IN_STORAGE");
      assert.equal((await put(empty.uploadUrl, smallBody)).status, 200);
      assert.equal((await client.complete(empty.fileId)).status, 200);
      expectError(await client.complete(empty.fileId), 404, "NOT_FOUND");
      await assertCountersMatch(app, projectId, { live: 3 });
    });

    it("keeps the metadata that somebody gave it meanwhile", async () => {
      const upload = await requestAndPut();
      const patch = (key: string) => () =>
        app.call("PATCH", `files/${encodeURIComponent(key)}`, {
          key: client.key,
          body: { metadata: { v: 1 } },
        });
      const file = await complete(meanwhile(patch(upload.key)), upload.fileId);
      assert.deepEqual([file.status, file.metadata], ["UPLOADED", '{"v":1}']);
      const inParts = await client.init();
      const parts = await putParts(inParts, partPieces());
      const patched = meanwhile(patch(inParts.key));
      const other = await completeMultipart(patched, actor, { ...inParts, parts }, saveNothing);
      assert.deepEqual([other.status, other.metadata], ["UPLOADED", '{"v":1}']);
      await assertCountersMatch(app, projectId, { live: 2 });
    });

    it("has its days, not its minutes, where its completion failed", async () => {
      const inParts = await client.init();
      const parts = await putParts(inParts, partPieces());
      const body = { ...inParts, parts };
      await assert.rejects(completeMultipart(deps, actor, body, () => Promise.reject(new Error("no"))));
      app.clock.advance(66 * minuteMs);
      await reapAbandonedUploads(deps);
      assert.equal(await statusOf(client, inParts.key), "UPLOADING");
      await completeMultipart(deps, actor, body, saveNothing);
      assert.equal(await statusOf(client, inParts.key), "UPLOADED");
    });

    it("loses its bytes where it was given up meanwhile", async () => {
      const upload = await requestAndPut();
      const givenUp = meanwhile(() => failWithBytes(upload.fileId));
      await assert.rejects(complete(givenUp, upload.fileId), { code: "NOT_FOUND" });
      assert.equal(await deps.store.findReceived(upload.key), null);
      assert.equal(await statusOf(client, upload.key), "FAILED");
      await assertCountersMatch(app, projectId, { live: 0 });
    });

    it("keeps its bytes where another one completed it meanwhile", async () => {
      const upload = await requestAndPut();
      const completed = meanwhile(() => client.complete(upload.fileId));
      await assert.rejects(complete(completed, upload.fileId), { code: "NOT_FOUND" });
      assert.equal(await (await fetch(upload.cdnUrl)).text(), smallBody.toString());
      await assertCountersMatch(app, projectId, { live: 1 });
    });

    it("keeps its bytes in the trash where another one completed it, and it was deleted, meanwhile", async () => {
      const body = { trashDays: 1 };
      assert.equal((await app.call("PATCH", `projects/${projectId}`, { key: client.key, body })).status, 200);
      const upload = await requestAndPut();
      const trashed = meanwhile(async () => {
        await client.complete(upload.fileId);
        await client.remove(upload.key);
      });
      await assert.rejects(complete(trashed, upload.fileId), { code: "NOT_FOUND" });
      assert.equal((await client.restore([upload.key])).body.restored, 1);
      assert.equal(await (await fetch(upload.cdnUrl)).text(), smallBody.toString());
      await assertCountersMatch(app, projectId, { live: 1 });
    });

    it("is completed under the slug that its route got meanwhile", async () => {
      const [upload, inParts] = [await requestAndPut(), await client.init()];
      const parts = await putParts(inParts, partPieces());
      const [route] = await deps.db.all(listRoutes, { projectId, before: "~", take: 10 });
      assert.ok(route);
      const renamed = (slug: string) => meanwhile(() => updateRoute(deps, actor, route.id, { slug }));
      const single = await complete(renamed("first"), upload.fileId);
      const multipart = await completeMultipart(renamed("second"), actor, { ...inParts, parts }, saveNothing);
      assert.deepEqual([single.route_slug, multipart.route_slug], ["first", "second"]);
      assert.equal(await (await fetch(upload.cdnUrl)).text(), smallBody.toString());
      await assertCountersMatch(app, projectId, { live: 2 });
    });

    it("stays open, with its bytes, where the answer could not be saved", async () => {
      const upload = await requestAndPut();
      for (const error of [notFound("What is to be saved"), new Error("the disk is gone")]) {
        const refused = complete(deps, upload.fileId, () => Promise.reject(error));
        await assert.rejects(refused, error);
        assert.ok(await deps.store.findReceived(upload.key));
        assert.equal(await statusOf(client, upload.key), "UPLOADING");
      }
      assert.equal((await client.complete(upload.fileId)).status, 200);
      assert.deepEqual(await listLogTypes(app, upload.fileId), ["upload.requested", "upload.completed"]);
    });

    itOnDisk("takes other bytes where the answer could not be saved: they were not final", async () => {
      const saveFailing = () => Promise.reject(new Error("no"));
      const upload = await requestAndPut();
      await assert.rejects(complete(deps, upload.fileId, saveFailing), { message: "no" });
      assert.equal((await put(upload.uploadUrl, Buffer.from("other bytes"))).status, 200);
      assert.equal((await client.complete(upload.fileId)).status, 200);
      assert.equal(await (await fetch(upload.cdnUrl)).text(), "other bytes");

      const inParts = await client.init();
      const pieces = partPieces();
      const parts = await putParts(inParts, pieces);
      const refused = completeMultipart(deps, actor, { ...inParts, parts }, saveFailing);
      await assert.rejects(refused, { message: "no" });
      const others = [...pieces.slice(0, 2), Buffer.alloc(1000)];
      await putParts(inParts, others);
      expectError(await client.completeParts(inParts, parts), 422, "FILE_NOT_IN_STORAGE");
      const done = await client.completeParts(inParts, (await client.listParts(inParts)).body.parts);
      const served = await (await fetch(done.body.file.url)).arrayBuffer();
      assert.ok(Buffer.concat(others).equals(Buffer.from(served)));
    });

    it("wakes whoever sends events, once and not in vain", async () => {
      const heard: string[] = [];
      const hear = (what: "nudge" | "announce") => () => {
        heard.push(what);
        deps.dispatcher[what]();
      };
      const dispatcher = { ...deps.dispatcher, nudge: hear("nudge"), announce: hear("announce") };
      const watched = { ...deps, dispatcher };
      const upload = await client.request();
      await assert.rejects(complete(watched, upload.fileId), { code: "FILE_NOT_IN_STORAGE" });
      assert.deepEqual(heard, []);
      assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
      const saved: string[] = [];
      const file = await complete(watched, upload.fileId, async () => void saved.push(upload.fileId));
      assert.deepEqual([file.status, file.size_bytes], ["UPLOADED", smallBody.length]);
      assert.deepEqual([saved, heard], [[upload.fileId], ["announce"]]);
    });
  });
});
