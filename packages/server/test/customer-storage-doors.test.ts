import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { createSdkClient, createTestBucket } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { signInAs } from "./support/console-client.ts";
import { countEvents, importFrom } from "./support/imports/import-client.ts";
import { serve, startSource } from "./support/imports/source.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const tusHeaders = { "tus-resumable": "1.0.0" };
const pieceBytes = 3 * 1024 * 1024;

describe("open doors to a bucket that the customer brings", { skip: swiftMissing }, () => {
  onAnyDatabase("with its project", (database) => {
    let swift: Awaited<ReturnType<typeof startSwift>>;
    let bucket: string;
    let app: TestApp;
    let tenant: Tenant;
    let client: UploadClient;
    before(async () => {
      swift = await startSwift();
      bucket = await createTestBucket(swift);
      const env = {
        UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8",
        UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8",
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
      await swift.stop();
    });

    async function expectStored(fileId: string, bytes: Buffer): Promise<void> {
      const { file } = (await client.get(fileId)).body;
      assert.deepEqual([file.status, file.size], ["UPLOADED", bytes.length]);
      assert.ok(bytes.equals(Buffer.from(await (await fetch(file.url)).arrayBuffer())));
      assert.equal(await countEvents(app, fileId), 1);
      const { Contents = [] } = await createSdkClient(swift).send(
        new ListObjectsV2Command({ Bucket: bucket }),
      );
      const found = Contents.filter(({ Key }) => Key?.includes(fileId));
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
