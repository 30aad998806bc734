import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { after, before, beforeEach, describe, it } from "node:test";
import { markFailed } from "../src/files/uploads/queries.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { expectError } from "./support/expect-error.ts";
import { assertCountersMatch, deletionsDone } from "./support/recount.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { partPieces, put, smallBody } from "./support/upload-client.ts";
import {
  createTenantClients,
  keepReaperAway,
  listLogTypes,
  listObjects,
  statusOf,
} from "./support/upload-life.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const { length: smallBytes } = smallBody;

onBothDatabases("an upload", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
    await keepReaperAway(app);
  });
  after(() => app.close());
  // A bucket goes by its own clock, which stays where it is: bytes arrive before time is let pass.
  beforeEach(() => app.clock.advance(Date.now() - app.clock.now()));
  const itOnDisk = onlyOnDisk("the service does not see what is on its way to a bucket");

  const createClient = () => createTenantClients(app);
  const reap = () => reapAbandonedUploads(app.app.deps);
  const logTypes = (fileId: string) => listLogTypes(app, fileId);

  describe("that nobody finishes", () => {
    it("fails 5 minutes after its URL expired where nothing came, not a moment before", async () => {
      const { tenant, client } = await createClient();
      const single = await client.request();
      const multipart = await client.init();
      // Time goes on by itself too, and a bucket takes more of it.
      const momentMs = onDisk ? 20_000 : minuteMs;
      app.clock.advance(20 * minuteMs - momentMs);
      await reap();
      assert.equal(await statusOf(client, single.key), "UPLOADING");
      app.clock.advance(momentMs);
      assert.equal(await reap(), 1);
      assert.equal(await statusOf(client, single.key), "FAILED");
      assert.equal(await statusOf(client, multipart.key), "UPLOADING");
      app.clock.advance(45 * minuteMs);
      assert.equal(await reap(), 1);
      assert.equal(await statusOf(client, multipart.key), "FAILED");
      assert.deepEqual(await logTypes(single.fileId), ["upload.requested", "upload.failed"]);
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });

    it("stays open for 24 h after its last byte, then fails and loses its bytes", async () => {
      const { tenant, client } = await createClient();
      const upload = await client.request();
      if (onDisk) app.clock.advance(14 * minuteMs);
      await put(upload.uploadUrl, smallBody);
      for (const ms of [21 * minuteMs, 23 * hourMs]) {
        app.clock.advance(ms);
        assert.equal(await reap(), 0);
      }
      assert.equal(await statusOf(client, upload.key), "UPLOADING");
      app.clock.advance(hourMs);
      assert.equal(await reap(), 1);
      assert.equal(await statusOf(client, upload.key), "FAILED");
      expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");
      await deletionsDone(app);
      assert.equal(await app.app.deps.store.findReceived(upload.key), null);
      const [object] = await app.app.deps.db.all(listObjects, { key: upload.key });
      if (onDisk) assert.equal(object?.state, "gone");
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });

    it("can be completed long after its URL expired", async () => {
      const { client } = await createClient();
      const upload = await client.request();
      await put(upload.uploadUrl, smallBody);
      app.clock.advance(23 * hourMs);
      await reap();
      assert.equal((await client.complete(upload.fileId)).status, 200);
    });

    it("is spared where its client came back after it was found abandoned", async () => {
      const { client } = await createClient();
      const upload = await client.request();
      const ended = await app.app.deps.db.run(markFailed, { id: upload.fileId, now: app.clock.now() });
      assert.equal(ended, 0, "its time has not come any more");
      assert.equal(await statusOf(client, upload.key), "UPLOADING");
      app.clock.advance(dayMs);
      assert.equal(await reap(), 1);
    });

    it("stays open for 7 days after its last part", async () => {
      const { tenant, client } = await createClient();
      const upload = await client.init();
      const [piece = smallBody] = partPieces();
      await put(upload.parts[0]?.uploadUrl ?? "", piece);
      for (let day = 0; day < 6; day++) {
        app.clock.advance(dayMs);
        assert.equal(await reap(), 0);
      }
      app.clock.advance(dayMs - hourMs);
      assert.equal(await reap(), 0);
      app.clock.advance(hourMs + 1000);
      assert.equal(await reap(), 1);
      assert.equal(await statusOf(client, upload.key), "FAILED");
      expectError(await client.listParts(upload), 404, "NOT_FOUND");
      expectError(await client.sign(upload, [1]), 404, "NOT_FOUND");
      expectError(await client.abort(upload), 404, "NOT_FOUND");
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });

    it("is kept open by signing afresh: by the new URL's life when empty, by a week with parts", async () => {
      const { client } = await createClient();
      const empty = await client.init();
      const begun = await client.init();
      const [piece = smallBody] = partPieces();
      await put(begun.parts[0]?.uploadUrl ?? "", piece);
      app.clock.advance(hourMs);
      await client.sign(empty, [1]);
      app.clock.advance(64 * minuteMs);
      await reap();
      assert.equal(await statusOf(client, empty.key), "UPLOADING");
      app.clock.advance(2 * minuteMs);
      await reap();
      assert.equal(await statusOf(client, empty.key), "FAILED");

      app.clock.advance(6 * dayMs);
      await reap();
      assert.equal((await client.sign(begun, [2])).status, 200);
      app.clock.advance(6 * dayMs);
      await reap();
      assert.equal(await statusOf(client, begun.key), "UPLOADING");
      app.clock.advance(dayMs);
      await reap();
      assert.equal(await statusOf(client, begun.key), "FAILED");
    });

    itOnDisk("is not given up while its body is on the way, and soon after that broke off", async () => {
      const { client } = await createClient();
      const [slow, broken] = [await client.request(), await client.request()];
      const sendings = [slow, broken].map(({ uploadUrl }) => {
        const headers = { "content-type": "text/plain", "content-length": smallBytes };
        const sending = httpRequest(uploadUrl, { method: "PUT", agent: false, headers });
        sending.write(smallBody.subarray(0, 4));
        return sending.on("error", () => {});
      });
      for (const { key } of [slow, broken]) await waitForArrival(app, key, true);
      app.clock.advance(25 * minuteMs);
      assert.equal(await reap(), 0);
      sendings[1]?.destroy();
      await waitForArrival(app, broken.key, false);
      app.clock.advance(5 * minuteMs);
      assert.equal(await reap(), 1);
      assert.equal(await statusOf(client, broken.key), "FAILED");

      sendings[0]?.end(smallBody.subarray(4));
      const [answer] = (await once(sendings[0] as ClientRequest, "response")) as [IncomingMessage];
      answer.resume();
      assert.equal(answer.statusCode, 200);
      assert.equal((await client.complete(slow.fileId)).status, 200);
    });

    itOnDisk("is not given up while its first part takes longer than any URL lives", async () => {
      const { client } = await createClient();
      const upload = await client.init();
      const [piece = smallBody] = partPieces();
      const headers = { "content-length": piece.length };
      const options = { method: "PUT", agent: false, headers };
      const sending = httpRequest(upload.parts[0]?.uploadUrl ?? "", options);
      sending.write(piece.subarray(0, 4));
      await waitForArrival(app, upload.key, true);
      app.clock.advance(70 * minuteMs);
      assert.equal(await reap(), 0);
      sending.end(piece.subarray(4));
      const [answer] = (await once(sending, "response")) as [IncomingMessage];
      answer.resume();
      assert.equal(answer.statusCode, 200);
      assert.equal((await client.listParts(upload)).body.parts.length, 1);
      assert.equal((await client.abort(upload)).status, 200);
    });

    it("is ended in thousands, in any state of its key and project", async () => {
      const { tenant, client } = await createClient();
      // The S3 server of the tests takes its time; it still is more than one batch of the reaper's.
      const count = onDisk ? 250 : 50;
      const uploads = await Promise.all(Array.from({ length: count }, () => client.request()));
      const deleted = await app.call("DELETE", `projects/${tenant.projectId}`, { key: tenant.live });
      assert.equal(deleted.status, 200);
      expectError(await client.complete(uploads[0]?.fileId ?? ""), 401, "UNAUTHORIZED");
      assert.equal((await put(uploads[0]?.uploadUrl ?? "", smallBody)).status, 200);
      app.clock.advance(25 * minuteMs);
      assert.equal(await reap(), count - 1);
      app.clock.advance(dayMs);
      assert.equal(await reap(), 1);
      await deletionsDone(app);
      if (onDisk) assert.equal((await put(uploads[0]?.uploadUrl ?? "", smallBody)).status, 403);
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });

    it("and FAILED can be listed, read, patched and deleted, never completed", async () => {
      const { tenant, client } = await createClient();
      const upload = await client.request();
      app.clock.advance(21 * minuteMs);
      await reap();
      assert.equal((await client.list()).body.files[0].status, "FAILED");
      assert.equal((await client.patch(upload.key, { metadata: { a: 1 } })).body.file.status, "FAILED");
      expectError(await client.complete(upload.fileId), 404, "NOT_FOUND");
      const removed = await client.removeAll([upload.key]);
      assert.deepEqual([removed.status, removed.body.reclaimedBytes], [200, 0]);
      assert.equal(await statusOf(client, upload.key), "404");
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });

    it("one that cannot be ended does not hold up the others", async () => {
      const { tenant, client } = await createClient();
      const stuck = await client.request();
      const fine = await client.request();
      const { db } = app.app.deps;
      const isStuck = `OLD.id = '${stuck.fileId}' AND NEW.status = 'FAILED'`;
      const refusal = {
        sqlite: `CREATE TRIGGER stuck BEFORE UPDATE ON file WHEN ${isStuck}
          BEGIN SELECT RAISE(ABORT, 'stuck'); END`,
        postgres: `CREATE FUNCTION refuse() RETURNS trigger AS 'BEGIN RAISE EXCEPTION ''stuck''; END' LANGUAGE plpgsql;
          CREATE TRIGGER stuck BEFORE UPDATE ON file FOR EACH ROW WHEN (${isStuck}) EXECUTE FUNCTION refuse()`,
      };
      await db.migrate((tx) => tx.script(refusal[db.dialect]));
      app.clock.advance(21 * minuteMs);
      await assert.rejects(reap());
      assert.equal(await statusOf(client, fine.key), "FAILED");
      const remove = db.dialect === "sqlite" ? "DROP TRIGGER stuck" : "DROP FUNCTION refuse CASCADE";
      await db.migrate((tx) => tx.script(remove));
      app.clock.advance(10 * minuteMs);
      assert.equal(await reap(), 1);
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    });
  });
});

async function waitForArrival(app: TestApp, key: string, isArriving: boolean): Promise<void> {
  while (app.app.deps.store.arrivals?.isArriving(key) !== isArriving)
    await new Promise((resolve) => setTimeout(resolve, 5));
}
