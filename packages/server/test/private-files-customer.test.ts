import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { createSdkClient, createTestBucket } from "../../../test/support/s3-server.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { runMoves } from "../src/files/file-moves.ts";
import { signInAs } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, partPieces, smallBody, type UploadClient } from "./support/upload-client.ts";

describe("private files in a bucket that the customer brings", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();

  onAnyDatabase("of an installation that redirects to its own", (database) => {
    let app: TestApp;
    let client: UploadClient;
    let bucket: string;
    let sdk: S3Client;
    before(async () => {
      const env = {
        ...(await s3.createEnv()),
        UPSTOW_S3_DELIVERY: "redirect",
        UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8",
      };
      app = await startApp({ database, env });
      const tenant = await app.createTenant("pro");
      client = createUploadClient(app, tenant.live);
      const owner = await signInAs(app, tenant.accountId);
      const { region, accessKeyId, secretAccessKey } = s3.server;
      bucket = await createTestBucket(s3.server);
      sdk = createSdkClient(s3.server);
      const input = { endpoint: s3.proxy.url, region, bucket, accessKeyId, secretAccessKey };
      const set = await owner("PUT", `/projects/${tenant.projectId}/storage`, input);
      assert.equal(set.status, 200, JSON.stringify(set.body));
    });
    after(async () => {
      sdk.destroy();
      await app.close();
    });

    /** Where the customer's bucket has a file. */
    const placesOf = async ({ key }: { key: string }): Promise<string[]> => {
      const { Contents = [] } = await sdk.send(new ListObjectsV2Command({ Bucket: bucket }));
      const keys = Contents.map(({ Key = "" }) => Key).filter((name) => name.endsWith(key));
      return keys.map((name) => name.slice(0, -key.length));
    };
    const linkTo = async (key: string, options = {}): Promise<string> =>
      (await client.post("files/links", { keys: [key], ...options })).body.links[0].url;
    const read = async (url: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, { redirect: "manual", headers });
      const bytes = Buffer.from(await answer.arrayBuffer());
      return answer.status < 300 ? bytes : answer.status;
    };
    const apart = ["upstow/private/"];
    const beside = ["upstow/f/"];

    it("lie apart, whole or in parts, and are opened by links and grants alone", async () => {
      const file = await client.upload(smallBody, { access: "private", audience: "team" });
      const pieces = partPieces();
      const large = await client.uploadPieces(pieces, { access: "private" });
      assert.deepEqual([await placesOf(file), await placesOf(large)], [apart, apart]);
      assert.deepEqual([await read(file.url), await read(large.url)], [404, 404]);
      assert.deepEqual(await read(await linkTo(large.key)), Buffer.concat(pieces));
      // Only the installation's own bucket is redirected to: nobody else learns where the customer's is.
      const link = await linkTo(file.key);
      assert.deepEqual(await read(link), smallBody);
      assert.deepEqual(await read(link, { range: "bytes=0-4" }), smallBody.subarray(0, 5));
      assert.equal((await fetch(link, { method: "HEAD" })).status, 200);
      const { grant } = (await client.post("files/grants", { audience: "team" })).body;
      assert.deepEqual(await read(`${grant.baseUrl}/${file.key}`), smallBody);
      assert.equal(await read(`${grant.baseUrl}/${large.key}`), 404);
      const once = await linkTo(file.key, { maxUses: 1 });
      const answers = await Promise.all(Array.from({ length: 10 }, () => read(once)));
      assert.deepEqual(
        answers.filter((answer) => answer !== 403),
        [smallBody],
      );
      await client.remove(large.key);
      assert.deepEqual(await placesOf(large), []);
    });

    it("are moved when their access changes, and closed by a revocation", async () => {
      const file = await client.upload();
      const link = await linkTo(file.key);
      assert.deepEqual([await placesOf(file), await read(file.url)], [beside, smallBody]);
      for (let round = 0; round < 2; round++) {
        await client.patch(file.key, { access: "private" });
        assert.deepEqual([await placesOf(file), await read(file.url)], [apart, 404]);
        assert.deepEqual(await read(link), smallBody);
        await client.patch(file.key, { access: "public" });
        assert.deepEqual([await placesOf(file), await read(file.url)], [beside, smallBody]);
      }
      await client.patch(file.key, { access: "private" });
      await client.post("files/links/revoke", { keys: [file.key] });
      assert.equal(await read(link), 403);
      assert.deepEqual(await read(await linkTo(file.key)), smallBody);
      const { url } = file;
      await client.remove(file.key);
      assert.deepEqual([await placesOf(file), await read(url)], [[], 404]);
    });

    it("are closed at once though the bucket is away, and moved when it is back", async () => {
      const file = await client.upload();
      const link = await linkTo(file.key);
      s3.proxy.setFaults(() => ({ kind: "answer", status: 503 }));
      assert.equal((await client.patch(file.key, { access: "private" })).status, 200);
      assert.equal(await read(file.url), 404);
      s3.proxy.setFaults(() => null);
      assert.deepEqual([await placesOf(file), await read(link)], [beside, smallBody]);
      await runMoves({ ...app.app.deps, now: () => app.clock.now() + 3_600_000 });
      assert.deepEqual([await placesOf(file), await read(link)], [apart, smallBody]);
    });

    it("have no variants, whatever is asked of them", async () => {
      const { key } = await client.upload(smallBody, { access: "private", contentType: "image/png" });
      for (const delivery of ["signed", "public"])
        expectError(
          await client.post("transforms/image", { key, width: 9, delivery }),
          400,
          "VALIDATION_ERROR",
        );
    });
  });
});
