import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { clamdMissing, eicar, startClamd } from "../../../test/support/clamd.ts";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import type { S3Store } from "../src/storage/s3/s3-store.ts";
import { judged } from "./support/judged.ts";
import { onAnyDatabase, startApp } from "./support/start-app.ts";
import { createUploadClient, partPieces, smallBody } from "./support/upload-client.ts";

onAnyDatabase("virus scans of files in a bucket", (database) => {
  describe("with what a CDN in front would see", { skip: swiftMissing || clamdMissing }, () => {
    const s3 = setUpFaultyS3();

    it("keep them apart until they are clean", async () => {
      const clamd = await startClamd();
      const env = { ...(await s3.createEnv()), UPSTOW_CLAMD: clamd.tcp, UPSTOW_S3_DELIVERY: "redirect" };
      const app = await startApp({ database, env });
      try {
        const tenant = await app.createTenant("pro");
        const client = createUploadClient(app, tenant.live);
        await client.post(`projects/${tenant.projectId}/routers`, { slug: "scanned", scan: true });
        const placesOf = async ({ key }: { key: string }) => {
          const places: string[] = [];
          for await (const object of (app.app.deps.store as S3Store).imports.list())
            if (object.key.endsWith(key))
              places.push(object.key === key ? "public" : object.key.replace(key, ""));
          return places.sort();
        };
        await clamd.stop();
        const file = await client.upload(smallBody, { routeSlug: "scanned" });
        const pieces = partPieces();
        const large = await client.uploadPieces(pieces, { routeSlug: "scanned" });
        const infected = await client.upload(eicar, { routeSlug: "scanned" });
        for (const held of [file, large, infected]) {
          assert.deepEqual(await placesOf(held), ["private/"]);
          assert.equal((await fetch(held.url, { redirect: "manual" })).status, 404);
        }
        // The bucket is away too, and nothing passes for it.
        let readCount = 0;
        s3.proxy.setFaults(({ method, url }) => {
          if (method === "GET" && url?.includes("/private/") === true) readCount++;
          return { kind: "answer", status: 503 };
        });
        await clamd.start();
        while (readCount === 0) await wait(50);
        assert.equal((await client.get(file.id)).body.file.scan, "pending");
        s3.proxy.setFaults(() => null);
        for (const [held, bytes] of [
          [file, smallBody],
          [large, Buffer.concat(pieces)],
        ] as const) {
          assert.equal((await judged(client, held.id)).scan, "clean");
          while ((await placesOf(held)).join() !== "public") await wait(200);
          assert.deepEqual(Buffer.from(await (await fetch(held.url)).arrayBuffer()), bytes);
        }
        await judged(client, infected.id, 404);
        while ((await placesOf(infected)).length > 0) await wait(200);
      } finally {
        await app.close();
        await clamd.close();
      }
    });
  });
});
