import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { runMoves } from "../src/files/file-moves.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import type { S3Store } from "../src/storage/s3/s3-store.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, partPieces, smallBody, type UploadClient } from "./support/upload-client.ts";

const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();

describe("private files in a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();

  onAnyDatabase("through the service", (database) => {
    let app: TestApp;
    let client: UploadClient;
    before(async () => {
      app = await startApp({ database, env: await s3.createEnv() });
      client = createUploadClient(app, (await app.createTenant("pro")).live);
    });
    after(() => app.close());

    /** Where the bucket has something of this file: beside the public ones, or apart. */
    async function placesOf({ key }: { key: string }): Promise<string[]> {
      const places: string[] = [];
      for await (const object of (app.app.deps.store as S3Store).imports.list())
        if (object.key.endsWith(key))
          places.push(object.key === key ? "public" : object.key.replace(key, ""));
      return places.sort();
    }
    const linkTo = async (key: string): Promise<string> =>
      (await client.post("files/links", { keys: [key] })).body.links[0].url;
    const read = async (url: string) => {
      const answer = await fetch(url);
      return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : answer.status;
    };
    /** What is due in an hour is done now. */
    const later = () => ({ ...app.app.deps, now: () => app.clock.now() + 3_600_000 });

    it("lie apart from public ones from the beginning", async () => {
      const single = await client.upload(smallBody, { access: "private" });
      assert.deepEqual(await placesOf(single), ["private/"]);
      const pieces = partPieces();
      const large = await client.uploadPieces(pieces, { access: "private" });
      assert.deepEqual(await placesOf(large), ["private/"]);
      assert.deepEqual(await read(await linkTo(large.key)), Buffer.concat(pieces));
      await client.remove(large.key);
      assert.deepEqual(await placesOf(large), []);
    });

    it("are moved when their access changes, there and back", async () => {
      const file = await client.upload();
      const link = await linkTo(file.key);
      for (let round = 0; round < 2; round++) {
        await client.patch(file.key, { access: "private" });
        assert.deepEqual(await placesOf(file), ["private/"]);
        assert.deepEqual([await read(link), await read(file.url)], [smallBody, 404]);
        await client.patch(file.key, { access: "public" });
        assert.deepEqual(await placesOf(file), ["public"]);
        assert.deepEqual([await read(link), await read(file.url)], [smallBody, smallBody]);
      }
    });

    it("are closed at once though the bucket is away, and moved when it is back", async () => {
      const file = await client.upload();
      const link = await linkTo(file.key);
      s3.proxy.setFaults(() => ({ kind: "answer", status: 503 }));
      assert.equal((await client.patch(file.key, { access: "private" })).status, 200);
      s3.proxy.setFaults(() => null);
      assert.equal(await read(file.url), 404);
      assert.deepEqual(await read(link), smallBody);
      assert.deepEqual(await placesOf(file), ["public"]);
      await runMoves(later());
      assert.deepEqual(await placesOf(file), ["private/"]);
      assert.deepEqual(await read(link), smallBody);
    });

    it("are found by readers who came before they were moved", async () => {
      const file = await client.upload();
      const link = await linkTo(file.key);
      /** Reads, and makes the change after the row was read and before the bucket is asked. */
      const readAmid = async (url: string, access: string, method = "GET") => {
        const [asked, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        let isFirst = true;
        s3.proxy.setFaults((request) => {
          if (request.method !== method || !isFirst) return null;
          isFirst = false;
          asked.resolve();
          return { kind: "wait", until: changed.promise };
        });
        const reading = fetch(url, { method });
        await asked.promise;
        assert.equal((await client.patch(file.key, { access })).body.file.access, access);
        changed.resolve();
        const answer = await reading;
        return [answer.status, await answer.text()];
      };
      assert.deepEqual(await readAmid(link, "private"), [200, smallBody.toString()]);
      assert.deepEqual(await readAmid(link, "public", "HEAD"), [200, ""]);
      const [status] = await readAmid(file.url, "private");
      assert.equal(status, 404);
    });

    /** What is read, and the access that the file gets meanwhile. */
    const changesAmid = (url: string, link: string) =>
      [
        [url, "private"],
        [link, "public"],
        [link, "private"],
      ] as const;

    it("are sent to their end to readers who are amid them when they are moved", async () => {
      const bytes = randomBytes(16 * 1024 * 1024);
      const file = await client.upload(bytes);
      const link = await linkTo(file.key);
      for (const [url, access] of changesAmid(file.url, link)) {
        const { body } = await fetch(url);
        const chunks: Uint8Array[] = [];
        for await (const chunk of body ?? []) {
          if (chunks.push(chunk) > 1) continue;
          assert.equal((await client.patch(file.key, { access })).status, 200);
          assert.deepEqual(await placesOf(file), [access === "private" ? "private/" : "public"]);
        }
        assert.ok(Buffer.concat(chunks).equals(bytes), access);
      }
      // Who comes back for the rest comes with a right or not at all.
      const rest = { headers: { range: "bytes=16777000-" } };
      assert.equal((await fetch(file.url, rest)).status, 404);
      assert.equal((await fetch(link, rest)).status, 206);
    });

    it("are sent to their end over a new connection to where they are by then", async () => {
      const bytes = randomBytes(16 * 1024 * 1024);
      const file = await client.upload(bytes);
      const link = await linkTo(file.key);
      for (const [url, access] of changesAmid(file.url, link)) {
        const moved = Promise.withResolvers<void>();
        s3.proxy.setFaults(({ method, url: path, headers }) => {
          if (method !== "GET" || path?.includes(file.id) !== true) return null;
          const isRest = headers.range?.startsWith("bytes=0-") === false;
          return isRest ? { kind: "wait", until: moved.promise } : { kind: "cut", afterBytes: 1024 * 1024 };
        });
        const reading = await fetch(url);
        assert.equal((await client.patch(file.key, { access })).status, 200);
        moved.resolve();
        assert.ok(Buffer.from(await reading.arrayBuffer()).equals(bytes), access);
        s3.proxy.setFaults(() => null);
        assert.deepEqual(await placesOf(file), [access === "private" ? "private/" : "public"]);
      }
    });

    it("keep their variants apart, though they are still to be moved themselves", async () => {
      const file = await client.upload(picture, { contentType: "image/png" });
      const body = { key: file.key, width: 10, format: "webp", delivery: "signed" };
      s3.proxy.setFaults(({ headers }) =>
        "x-amz-copy-source" in headers ? { kind: "answer", status: 503 } : null,
      );
      await client.patch(file.key, { access: "private" });
      const variant = (await client.post("transforms/image", body)).body.url;
      assert.equal((await fetch(variant)).status, 200);
      s3.proxy.setFaults(() => null);
      assert.deepEqual(await placesOf(file), ["public"]);
      const beside = async () => {
        const keys: string[] = [];
        for await (const { key } of (app.app.deps.store as S3Store).imports.list())
          if (key.includes(`${file.id}/variants/`)) keys.push(key.slice(0, "private/".length));
        return keys;
      };
      assert.deepEqual(await beside(), ["private/"]);
      await runMoves(later());
      assert.equal((await fetch(variant)).status, 200);
    });

    it("end where their last change wants them, however many come at once", async () => {
      const file = await client.upload();
      const link = await linkTo(file.key);
      for (let round = 0; round < 5; round++) {
        const wanted = ["private", "public", "private", "public", "private"];
        await Promise.all(wanted.map((access) => client.patch(file.key, { access })));
        const { access } = (await client.get(file.key)).body.file;
        for (let tries = 0; tries < 3; tries++) {
          await runDeletions(later());
          await runMoves(later());
        }
        assert.deepEqual(await placesOf(file), [access === "private" ? "private/" : "public"]);
        assert.deepEqual(await read(link), smallBody);
      }
    });

    it("leave nothing behind when they are deleted while they are moved", async () => {
      for (let round = 0; round < 5; round++) {
        const file = await client.upload();
        const [patched, removed] = await Promise.all([
          client.patch(file.key, { access: "private" }),
          client.remove(file.key),
        ]);
        assert.ok([200, 404].includes(patched.status));
        assert.equal(removed.status, 200);
        await runMoves(later());
        await runDeletions(later());
        assert.deepEqual(await placesOf(file), []);
      }
    });

    it("follow a change that came while they were uploaded", async () => {
      const upload = await client.request();
      await client.patch(upload.fileId, { access: "private" });
      await fetch(upload.uploadUrl, {
        method: "PUT",
        body: smallBody,
        headers: { "content-type": "text/plain" },
      });
      const { file } = (await client.complete(upload.fileId)).body;
      assert.equal(file.access, "private");
      assert.equal(await read(file.url), 404);
      await runMoves(later());
      assert.deepEqual(await placesOf(file), ["private/"]);
    });
  });

  it("are redirected to by links, for a minute at most, and never by counted ones", async () => {
    const env = { ...(await s3.createEnv()), UPSTOW_S3_DELIVERY: "redirect" };
    const app = await startApp({ env });
    try {
      const client = createUploadClient(app, (await app.createTenant("pro")).live);
      const file = await client.upload(smallBody, { access: "private" });
      const open = async (options: object) => {
        const { links } = (await client.post("files/links", { keys: [file.key], ...options })).body;
        return fetch(links[0].url, { redirect: "manual" });
      };
      const answer = await open({ download: "saved.txt" });
      assert.equal(answer.status, 302);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
      assert.equal(answer.headers.get("x-robots-tag"), "noindex");
      const address = new URL(answer.headers.get("location") ?? "");
      assert.match(address.pathname, /\/private\//);
      assert.equal(address.searchParams.get("X-Amz-Expires"), "60");
      const served = await fetch(address);
      assert.equal(await served.text(), smallBody.toString());
      assert.match(served.headers.get("content-disposition") ?? "", /^attachment; filename="saved\.txt"/);
      const counted = await open({ maxUses: 1 });
      assert.deepEqual([counted.status, await counted.text()], [200, smallBody.toString()]);
      assert.equal((await fetch(file.url, { redirect: "manual" })).status, 404);
      // The bucket rejects its own URL if it is this long.
      const longest = await client.upload(smallBody, { fileName: "\u{1f600}".repeat(255) });
      assert.equal(await (await fetch(longest.url)).text(), smallBody.toString());
    } finally {
      await app.close();
    }
  });
});
