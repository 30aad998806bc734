import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { GB } from "@upstow/contract";
import { sql } from "#kysely";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { createSdkClient, createTestBucket } from "../../../test/support/s3-server.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { statement } from "../src/db/statement.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { requestUpload } from "../src/files/uploads/request-upload.ts";
import { hashApiKey } from "../src/kernel/security/api-key-secret.ts";
import { createKeyring } from "../src/kernel/security/keyring.ts";
import { findActorByKeyHash } from "../src/projects/api-keys/queries.ts";
import { removeStorage, setStorage } from "../src/projects/customer-storage/customer-storage.ts";
import { resealCredentials } from "../src/projects/customer-storage/customer-stores.ts";
import { findHeldDeletion, listStoresOfProject } from "../src/projects/customer-storage/queries.ts";
import { UnknownStore } from "../src/storage/object-store.ts";
import { expectRecorded } from "./support/audit-trail.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { dumpData } from "./support/dump-data.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { type Answer, onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import {
  createUploadClient,
  partPieces,
  put,
  putParts,
  smallBody,
  type UploadClient,
} from "./support/upload-client.ts";

const addStored = statement((q, p: { projectId: string; bytes: number }) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: sql`stored_bytes + cast(${p.bytes} as bigint)` })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
const findReapAt = statement((q, p: { id: string }) =>
  q.selectFrom("file").select("reap_at").where("id", "=", p.id),
);
const secret = "the secret that seals credentials in these tests";

describe("a bucket that the customer brings", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  const inputFor = async () => {
    const { region, accessKeyId, secretAccessKey } = s3.server;
    const bucket = await createTestBucket(s3.server);
    return { endpoint: s3.proxy.url, region, bucket, accessKeyId, secretAccessKey };
  };

  onAnyDatabase("with its project", (database) => {
    let app: TestApp;
    let tenant: Tenant;
    let client: UploadClient;
    let owner: ConsoleCall;
    before(async () => {
      const env = { UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8", UPSTOW_SECRET: secret };
      app = await startApp({ database, env });
      tenant = await app.createTenant("pro");
      client = createUploadClient(app, tenant.live);
      owner = await signInAs(app, tenant.accountId);
    });
    after(() => app.close());
    const path = () => `/projects/${tenant.projectId}/storage`;

    it("is set, probed and removed by the owner alone, and never shows its credentials", async () => {
      assert.deepEqual((await owner("GET", path())).body, { storage: null });
      const input = await inputFor();
      let set: Answer = await owner("GET", path());
      const recorded = await expectRecorded(app, { action: "storage.set", by: "user" }, async () => {
        set = await owner("PUT", path(), input);
      });
      assert.equal(set.status, 200, JSON.stringify(set.body));
      assert.deepEqual(JSON.parse(recorded.changes).credentials, {}, "set, and not shown");
      const { bucket, endpoint, prefix } = set.body.storage;
      assert.deepEqual([bucket, endpoint, prefix], [input.bucket, input.endpoint, "upstow/"]);
      for (const answer of [set, await owner("GET", path())])
        assert.ok(!JSON.stringify(answer.body).includes(s3.server.secretAccessKey));
      assert.ok(!(await dumpData(app)).includes(`"${s3.server.secretAccessKey}"`));
      const probe = (await owner("POST", `${path()}/probe`)).body.probe;
      assert.deepEqual([probe.ok, probe.refused, probe.allowsBrowsers], [true, [], false]);

      const stranger = await signInAs(app, (await app.createTenant("pro")).accountId);
      for (const [method, suffix] of [
        ["GET", ""],
        ["PUT", ""],
        ["DELETE", ""],
        ["POST", "/probe"],
      ] as const) {
        const answer = await stranger(method, path() + suffix, method === "PUT" ? input : undefined);
        expectError(answer, 404, "NOT_FOUND");
      }
      await expectRecorded(app, { action: "storage.removed", by: "user" }, async () => {
        assert.deepEqual((await owner("DELETE", path())).body, { ok: true });
      });
      assert.deepEqual((await owner("GET", path())).body, { storage: null });
      expectError(await owner("POST", `${path()}/probe`), 404, "NOT_FOUND");
    });

    it("is refused where it does not work, and nothing is kept of it", async () => {
      const input = await inputFor();
      expectInvalid(await owner("PUT", path(), { ...input, secretAccessKey: "wrong" }), "bucket");
      expectInvalid(await owner("PUT", path(), { ...input, bucket: "no-such-bucket" }), "bucket");
      expectInvalid(await owner("PUT", path(), { ...input, bucket: "a/../b" }), "bucket");
      expectInvalid(await owner("PUT", path(), { ...input, region: "x.evil.example/" }), "region");
      expectInvalid(await owner("PUT", path(), { ...input, prefix: "../x/" }), "prefix");
      expectInvalid(await owner("PUT", path(), { ...input, endpoint: "http://93.184.216.34" }), "endpoint");
      expectInvalid(
        await owner("PUT", path(), { ...input, endpoint: "https://u:p@s3.example.com" }),
        "endpoint",
      );
      for (const endpoint of ["https://8.8.8.8", "https://[2001:4860:4860::8888]"])
        expectInvalid(
          await owner("PUT", path(), { ...input, endpoint, forcePathStyle: false }),
          "forcePathStyle",
        );
      expectInvalid(await owner("PUT", path(), { ...input, secretAccessKey: "a\r\nb" }), "secretAccessKey");
      s3.proxy.setFaults(({ headers }) =>
        "x-amz-copy-source" in headers ? { kind: "answer", status: 403 } : null,
      );
      const refused = await owner("PUT", path(), input);
      s3.proxy.setFaults(() => null);
      assert.match(refused.body.error.message, /may not copy/);
      assert.deepEqual((await owner("GET", path())).body, { storage: null });
    });

    it("takes at most 5 GiB in one piece, though the service's own disk takes more", async () => {
      const large = await app.createTenant("enterprise");
      const storage = `/projects/${large.projectId}/storage`;
      const [payer, uploader] = [await signInAs(app, large.accountId), createUploadClient(app, large.live)];
      if (onDisk) assert.equal((await uploader.requestAnswer({ fileSize: 6 * GB })).status, 200);
      assert.equal((await payer("PUT", storage, await inputFor())).status, 200);
      expectInvalid(await uploader.requestAnswer({ fileSize: 6 * GB }), "fileSize");
      assert.equal((await payer("DELETE", storage)).status, 200);
    });

    it("holds the project's files: uploads, parts, delivery, quotas and deletion", async () => {
      const before = await client.upload();
      const input = await inputFor();
      assert.equal((await owner("PUT", path(), input)).status, 200);
      const upload = await client.request();
      assert.ok(upload.uploadUrl.startsWith(`${input.endpoint}/${input.bucket}/`), upload.uploadUrl);
      assert.equal((await put(upload.uploadUrl, smallBody)).status, 200);
      const done = await client.complete(upload.fileId);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      const pieces = partPieces();
      const parts = await client.uploadPieces(pieces);
      assert.equal(await (await fetch(done.body.file.url)).text(), smallBody.toString());
      assert.equal(
        await (await fetch(before.url)).text(),
        smallBody.toString(),
        "earlier files stay where they are",
      );
      const range = await fetch(parts.url, { headers: { range: "bytes=5-9" } });
      assert.deepEqual(Buffer.from(await range.arrayBuffer()), Buffer.concat(pieces).subarray(5, 10));
      await assertCountersMatch(app, tenant.projectId, { live: 3 });
      const usage = await client.usage();
      assert.deepEqual(
        [usage.uploads, usage.storageBytes],
        [3, smallBody.length],
        "their bucket, their bytes",
      );
      await app.app.deps.db.run(addStored, { projectId: tenant.projectId, bytes: 1e15 });
      const overFull = await client.init();
      assert.equal((await client.abort(overFull)).status, 200);
      await app.app.deps.db.run(addStored, { projectId: tenant.projectId, bytes: -1e15 });

      const refused = await owner("DELETE", path());
      assert.deepEqual([refused.status, refused.body.error.code], [409, "VALIDATION_ERROR"]);
      assert.equal((await client.removeAll([done.body.file.key, parts.key])).status, 200);
      assert.equal((await fetch(done.body.file.url)).status, 404);
      await runDeletions(app.app.deps);
      assert.equal((await owner("DELETE", path())).status, 200);
      const after = await client.request();
      const ownPlace = app.app.deps.config.s3?.endpoint ?? app.url;
      assert.ok(after.uploadUrl.startsWith(ownPlace), "new files go to the service's own store again");
      await client.remove(after.key);
    });

    it("keeps everything in it that the service did not record", async () => {
      const input = await inputFor();
      const { bucket: Bucket } = input;
      const s3Client = createSdkClient(s3.server);
      const theirs = ["upstow/left-behind.txt", "upstow/staging/theirs.txt", "photos/theirs.txt"];
      for (const Key of theirs) await s3Client.send(new PutObjectCommand({ Bucket, Key, Body: "theirs" }));
      assert.equal((await owner("PUT", path(), input)).status, 200);
      const file = await client.upload();
      assert.equal((await owner("POST", `${path()}/probe`)).body.probe.ok, true);
      assert.equal((await client.remove(file.key)).status, 200);
      const aMonthOn = () => app.clock.now() + 30 * 86_400_000;
      await runDeletions({ ...app.app.deps, now: aMonthOn });
      await reapAbandonedUploads({ ...app.app.deps, now: aMonthOn });
      assert.equal((await owner("DELETE", path())).status, 200);
      const { Contents = [] } = await s3Client.send(new ListObjectsV2Command({ Bucket }));
      assert.deepEqual(Contents.map(({ Key }) => Key).sort(), [...theirs].sort());
    });

    it("stays known while it holds files, when another one takes its place", async () => {
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const file = await client.upload();
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const later = await client.upload();
      for (const { url } of [file, later])
        assert.equal(await (await fetch(url)).text(), smallBody.toString());
      await client.removeAll([file.key, later.key]);
      assert.equal((await owner("DELETE", path())).status, 200);
    });

    it("may be replaced while uploads to it are open: they end where they began", async () => {
      const first = await inputFor();
      assert.equal((await owner("PUT", path(), first)).status, 200);
      const single = await client.request();
      const pieces = partPieces();
      const inParts = await client.init({ fileSize: Buffer.concat(pieces).length });
      const sent = await putParts(inParts, pieces.slice(0, 1));
      const given = await client.request();
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      assert.equal((await put(single.uploadUrl, smallBody)).status, 200);
      assert.ok(single.uploadUrl.includes(first.bucket));
      const completed = await client.complete(single.fileId);
      assert.equal(completed.status, 200, JSON.stringify(completed.body));
      const signed = (await client.sign(inParts, [2, 3])).body.parts;
      assert.ok(signed[0].uploadUrl.includes(first.bucket));
      const rest = await putParts({ ...inParts, parts: signed }, pieces.slice(1));
      const whole = await client.completeParts(inParts, [...sent, ...rest]);
      assert.equal(whole.status, 200, JSON.stringify(whole.body));
      assert.equal(await (await fetch(completed.body.file.url)).text(), smallBody.toString());

      // Nobody sends the third; once it has failed, it holds no bucket.
      app.clock.advance(2 * 3_600_000);
      await reapAbandonedUploads(app.app.deps);
      assert.equal((await client.get(given.key)).body.file.status, "FAILED");
      await client.removeAll([completed.body.file.key, whole.body.file.key]);
      const { db } = app.app.deps;
      const stores = await db.all(listStoresOfProject, { projectId: tenant.projectId });
      assert.equal(stores.length, 2);
      for (const { id } of stores)
        while ((await db.get(findHeldDeletion, { storeId: id })) !== null) await wait(20);
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const left = await db.all(listStoresOfProject, { projectId: tenant.projectId });
      assert.equal(left.length, 1, "the first is forgotten, and the second, which was never used");
      assert.equal((await owner("DELETE", path())).status, 200);
    });

    it("takes no file when it is removed at the same moment, and is not removed when it takes one", async () => {
      const { deps } = app.app;
      const body = { fileName: "a", fileSize: 1, contentType: "text/plain", routeSlug: "default" };
      const countFiles = async () => (await client.list()).body.files.length;
      const files = await countFiles();
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const actor = await deps.db.get(findActorByKeyHash, { hash: hashApiKey(tenant.live) });
      assert.ok(actor);
      assert.equal((await owner("DELETE", path())).status, 200);
      await assert.rejects(
        requestUpload(deps, actor, body, async () => {}),
        UnknownStore,
      );
      assert.equal(await countFiles(), files);

      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const later = await deps.db.get(findActorByKeyHash, { hash: hashApiKey(tenant.live) });
      assert.ok(later);
      let removing = Promise.resolve();
      const saved = await requestUpload(deps, later, body, async (tx) => {
        removing = removeStorage(deps, tenant.projectId);
        removing.catch(() => {});
        // PostgreSQL has time to look for files while this one is not committed; the embedded one waits its turn.
        for (let i = 0; i < 20; i++) await tx.get(findReapAt, { id: "nothing" });
      });
      await assert.rejects(removing, { status: 409 });
      await client.remove(saved.key);
      assert.equal((await owner("DELETE", path())).status, 200);
    });

    it("keeps the place that it was given while another one was removed", async () => {
      const { deps } = app.app;
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const next = await inputFor();
      const { transact } = deps.db;
      const replaceFirst: typeof transact = async (...work) => {
        assert.equal((await owner("PUT", path(), next)).status, 200);
        return transact(...work);
      };
      const slow = { ...deps, db: { ...deps.db, transact: replaceFirst } };
      await assert.rejects(removeStorage(slow, tenant.projectId), { code: "NOT_FOUND" });
      assert.equal((await owner("GET", path())).body.storage.bucket, next.bucket);
      assert.equal((await owner("DELETE", path())).status, 200);
    });

    it("makes no image variants", async () => {
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const image = await client.upload(smallBody, { fileName: "a.png", contentType: "image/png" });
      const answer = await client.post("transforms/image", { key: image.key, width: 10 });
      expectInvalid(answer, "key");
      await client.remove(image.key);
      assert.equal((await owner("DELETE", path())).status, 200);
    });

    it("that is away holds up nobody else", async () => {
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const file = await client.upload();
      const open = await client.request();
      const other = createUploadClient(app, (await app.createTenant("pro")).live);
      const abandoned = await other.request();
      s3.proxy.setFaults(() => ({ kind: "answer", status: 403 }));
      const now = app.clock.now() + 3_600_000;
      await reapAbandonedUploads({ ...app.app.deps, now: () => now });
      const row = await app.app.deps.db.get(findReapAt, { id: open.fileId });
      assert.equal(row?.reap_at, now + 600_000, "it is looked at again in ten minutes");
      assert.equal((await client.get(open.key)).body.file.status, "UPLOADING");
      assert.equal((await other.get(abandoned.key)).body.file.status, "FAILED");
      const deletion = await client.remove(file.key);
      assert.equal(deletion.status, 200);
      const answer = await fetch(`${app.url}/readyz`);
      assert.equal(answer.status, 200);
      const own = await other.upload();
      assert.equal((await other.remove(own.key)).status, 200);
      s3.proxy.setFaults(() => null);
      assert.equal((await client.remove(open.key)).status, 200);
      expectError({ ...(await owner("DELETE", path())) }, 409, "VALIDATION_ERROR");
      app.clock.advance(3_600_000);
      await runDeletions(app.app.deps);
      assert.equal((await owner("DELETE", path())).status, 200);
    });

    it("is sealed anew when the secret is replaced", async () => {
      assert.equal((await owner("PUT", path(), await inputFor())).status, 200);
      const file = await client.upload();
      const newer = "a newer secret that was put in front of the old";
      assert.equal(await resealCredentials({ ...app.app.deps, keyring: createKeyring([newer, secret]) }), 1);
      const broken = await fetch(file.url);
      assert.ok(broken.status >= 500, "the old secret no longer opens it");
      assert.equal(await resealCredentials({ ...app.app.deps, keyring: createKeyring([secret, newer]) }), 1);
      assert.equal(await (await fetch(file.url)).text(), smallBody.toString());
      await client.remove(file.key);
      assert.equal((await owner("DELETE", path())).status, 200);
    });
  });

  it("may not be at a private address unless the operator allows it", async () => {
    const app = await startApp();
    try {
      const { projectId, accountId } = await app.createTenant("pro");
      const owner = await signInAs(app, accountId);
      const input = await inputFor();
      const port = new URL(s3.server.endpoint).port;
      for (const host of ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "0x7f.1", "10.0.0.1"]) {
        for (const scheme of ["http", "https"]) {
          const endpoint = `${scheme}://${host}:${port}`;
          expectInvalid(
            await owner("PUT", `/projects/${projectId}/storage`, { ...input, endpoint }),
            "endpoint",
          );
        }
      }
      // As if it had been allowed once: the bucket is not connected to all the same.
      const { deps } = app.app;
      const judgeEndpoint = async () => null;
      const customerBuckets = { ...deps.customerBuckets, judgeEndpoint };
      await assert.rejects(setStorage({ ...deps, customerBuckets }, projectId, input), /not public/);
    } finally {
      await app.close();
    }
  });
});
