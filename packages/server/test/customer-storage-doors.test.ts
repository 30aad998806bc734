import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { PART_SIZE_BYTES } from "@upstow/contract";
import { type ClamdHandle, clamdMissing, eicar, startClamd } from "../../../test/support/clamd.ts";
import { createSdkClient, createTestBucket } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { signInAs } from "./support/console-client.ts";
import { sendByEveryDoor } from "./support/every-door.ts";
import { countEvents, importFrom } from "./support/imports/import-client.ts";
import { serve, startSource } from "./support/imports/source.ts";
import { judged } from "./support/judged.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const tusHeaders = { "tus-resumable": "1.0.0" };
const pieceBytes = 3 * 1024 * 1024;

describe("open doors to a bucket that the customer brings", { skip: swiftMissing }, () => {
  onAnyDatabase("with its project", (database) => {
    let swift: Awaited<ReturnType<typeof startSwift>>;
    let bucket: string;
    let clamd: ClamdHandle | null;
    let app: TestApp;
    let tenant: Tenant;
    let client: UploadClient;
    before(async () => {
      swift = await startSwift();
      bucket = await createTestBucket(swift);
      clamd = clamdMissing ? null : await startClamd();
      const env = {
        UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8",
        UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8",
        ...(clamd === null ? {} : { UPSTOW_CLAMD: clamd.tcp }),
        UPSTOW_SECRET: "the secret that seals credentials in these tests",
      };
      app = await startApp({ database, env });
      tenant = await app.createTenant("pro");
      client = createUploadClient(app, tenant.live);
      const owner = await signInAs(app, tenant.accountId);
      const { endpoint, region, accessKeyId, secretAccessKey } = swift;
      const storage = { endpoint, region, bucket, accessKeyId, secretAccessKey };
      assert.equal((await owner("PUT", `/projects/${tenant.projectId}/storage`, storage)).status, 200);
    });
    after(async () => {
      await app.close();
      await clamd?.close();
      await swift.stop();
    });

    async function listBucket() {
      const { Contents = [] } = await createSdkClient(swift).send(
        new ListObjectsV2Command({ Bucket: bucket }),
      );
      return Contents;
    }

    async function expectStored(fileId: string, bytes: Buffer): Promise<void> {
      const { file } = (await client.get(fileId)).body;
      assert.deepEqual([file.status, file.size], ["UPLOADED", bytes.length]);
      assert.ok(bytes.equals(Buffer.from(await (await fetch(file.url)).arrayBuffer())));
      assert.equal(await countEvents(app, fileId), 1);
      const found = (await listBucket()).filter(({ Key }) => Key?.includes(fileId));
      assert.deepEqual(
        found.map(({ Size }) => Size),
        [bytes.length],
        "in their bucket, and no tail beside it",
      );
      await assertCountersMatch(app, tenant.projectId);
    }

    it("takes tus appends across the parts of the bucket", async () => {
      const bytes = randomBytes(2 * pieceBytes + 17);
      const created = await fetch(`${app.url}/tus`, {
        method: "POST",
        headers: {
          ...tusHeaders,
          authorization: `Bearer ${tenant.live}`,
          "upload-length": String(bytes.length),
        },
      });
      assert.equal(created.status, 201);
      const url = new URL(created.headers.get("location") ?? "", app.url);
      let last = created;
      for (let offset = 0; offset < bytes.length; offset += pieceBytes) {
        const type = { "content-type": "application/offset+octet-stream" };
        last = await fetch(url, {
          method: "PATCH",
          headers: { ...tusHeaders, ...type, "upload-offset": String(offset) },
          body: bytes.subarray(offset, offset + pieceBytes),
        });
        assert.equal(last.status, 204, await last.text());
      }
      await expectStored(last.headers.get("upstow-file-id") ?? "", bytes);
    });

    it("lets no virus in, and serves nothing that was not looked at", { skip: clamdMissing }, async () => {
      const route = { slug: "scanned", scan: true, expireAfterDays: 1, claimWithin: 60 };
      const made = await client.post(`projects/${tenant.projectId}/routers`, route);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const source = await startSource();
      await clamd?.stop();
      const pieces = [randomBytes(PART_SIZE_BYTES), randomBytes(PART_SIZE_BYTES), eicar];
      const infected = await sendByEveryDoor(
        { app, client, source },
        { bytes: eicar, pieces, type: "text/plain" },
        { routeSlug: "scanned" },
      );
      const clean = await client.upload(smallBody, { routeSlug: "scanned" });
      await source.close();
      for (const id of [...Object.values(infected), clean.id]) {
        await until(async () => (await client.get(id)).body.file.status === "UPLOADED");
        const { file } = (await client.get(id)).body;
        assert.deepEqual([file.scan, (await fetch(file.url)).status], ["pending", 404]);
      }
      await clamd?.start();
      for (const [door, id] of Object.entries(infected)) {
        await judged(client, id, 404);
        assert.equal(await countEvents(app, id), 0, door);
        await until(async () => (await listBucket()).every(({ Key }) => Key?.includes(id) !== true));
      }
      const file = await judged(client, clean.id);
      assert.equal(file.scan, "clean");
      assert.ok(Date.parse(file.claimBy) > app.clock.now());
      await until(async () => (await fetch(file.url)).status === 200);
      assert.equal(await countEvents(app, clean.id), 1);
      await assertCountersMatch(app, tenant.projectId);
    });

    it("stores what is imported from a URL", async () => {
      const bytes = randomBytes(2 * pieceBytes);
      const source = await startSource();
      source.paths.set("/file.bin", serve(bytes));
      const { id } = await importFrom(client, `${source.url}/file.bin`);
      await source.close();
      await expectStored(id, bytes);
    });
  });
});
