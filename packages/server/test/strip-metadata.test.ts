import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { PART_SIZE_BYTES, STRIP_MAX_BYTES, STRIPS_AT_ONCE } from "@upstow/contract";
import sharp from "sharp";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { startHostileBucket } from "../../../test/support/hostile-bucket.ts";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { signInAs } from "./support/console-client.ts";
import { sendByEveryDoor } from "./support/every-door.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { settled } from "./support/imports/import-client.ts";
import { type Source, startSource } from "./support/imports/source.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, put, putParts, type UploadClient } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const secret = "Jane lives at 48.2082";

/** A picture that tells more than it shows. */
function takePicture(width: number) {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  return sharp({ create: { width, height: width, channels: 3, background: "#000", noise } })
    .withExif({ IFD0: { Artist: secret }, IFD3: { GPSLatitude: "48/1 12/1 30/1", GPSLatitudeRef: "N" } })
    .jpeg({ quality: 100, chromaSubsampling: "4:4:4" })
    .toBuffer();
}

let large: Promise<Buffer> | undefined;
/** Sent in parts. It takes seconds to make. */
function takeLargePicture(): Promise<Buffer> {
  large ??= takePicture(2300);
  return large;
}

function cutIntoParts(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += PART_SIZE_BYTES)
    pieces.push(bytes.subarray(at, at + PART_SIZE_BYTES));
  return pieces;
}

const pixelsOf = (bytes: Buffer) => sharp(bytes).raw().toBuffer();

function describeRoutes(
  database: "sqlite" | "postgres",
  strips: string[],
  envOf: () => Promise<Record<string, string>>,
) {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let source: Source;
  let picture: Buffer;
  before(async () => {
    const env = { ...(await envOf()), UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" };
    app = await startApp({ database, env });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    source = await startSource();
    picture = await takePicture(60);
    for (const stripMetadata of ["off", "gps", "all"])
      await client.post(`projects/${tenant.projectId}/routers`, { slug: stripMetadata, stripMetadata });
  });
  after(async () => {
    await source.close();
    await app.close();
  });

  it("take what they say out of what comes in by any door, and keep the picture", async () => {
    const large = await takeLargePicture();
    const pieces = cutIntoParts(large);
    const sent = { bytes: picture, pieces, type: "image/jpeg" };
    const drawn = { large: await pixelsOf(large), picture: await pixelsOf(picture) };
    for (const routeSlug of strips) {
      const files = await sendByEveryDoor({ app, client, source }, sent, { routeSlug });
      for (const [door, id] of Object.entries(files)) {
        const file = await settled(client, id);
        const original = door === "parts" ? large : picture;
        const stored = Buffer.from(await (await fetch(file.url)).arrayBuffer());
        assert.equal(file.size, original.length, door);
        assert.equal(stored.length, original.length, door);
        if (file.sha256 !== null)
          assert.equal(file.sha256, createHash("sha256").update(stored).digest("hex"), door);
        const { exif } = await sharp(stored).metadata();
        assert.equal(stored.includes(secret), routeSlug === "gps", door);
        assert.equal(exif?.includes(Buffer.from([0x25, 0x88])) ?? false, false, door);
        assert.equal(exif?.includes(Buffer.from([0x88, 0x25])) ?? false, false, door);
        assert.deepEqual(await pixelsOf(stored), door === "parts" ? drawn.large : drawn.picture, door);
      }
    }
    await assertCountersMatch(app, tenant.projectId);
  });

  it("leave alone what has no metadata, what is no such picture, and what other routes take", async () => {
    const plain = await sharp(picture).jpeg().toBuffer();
    for (const [bytes, routeSlug] of [
      [picture, "off"],
      [plain, "all"],
      [Buffer.from(`${secret}, in a text`), "all"],
    ] as const) {
      const file = await client.upload(bytes, { routeSlug, contentType: "image/jpeg" });
      assert.deepEqual(Buffer.from(await (await fetch(file.url)).arrayBuffer()), bytes);
    }
  });

  it("strip once, however many complete an upload at the same time", async () => {
    const upload = await client.request({
      fileSize: picture.length,
      contentType: "image/jpeg",
      routeSlug: "all",
    });
    await put(upload.uploadUrl, picture, "image/jpeg");
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.complete(upload.fileId)));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1, JSON.stringify(answers.map(({ status }) => status)));
    const stored = Buffer.from(await (await fetch(upload.cdnUrl)).arrayBuffer());
    assert.equal(stored.includes(secret), false);
    assert.equal(stored.length, picture.length);
    await assertCountersMatch(app, tenant.projectId);
  });

  return { app: () => app, client: () => client, tenant: () => tenant, picture: () => picture };
}

onAnyDatabase("routes that strip metadata", (database) => {
  const { app, client, tenant, picture } = describeRoutes(
    database,
    isQuickRun ? ["all"] : ["gps", "all"],
    async () => ({}),
  );

  it("are set by a field, off unless given", async () => {
    const made = await client().post(`projects/${tenant().projectId}/routers`, { slug: "plain" });
    assert.equal(made.body.router.stripMetadata, "off");
    const change = (stripMetadata: unknown) =>
      app().call("PATCH", `routers/${made.body.router.id}`, { key: tenant().live, body: { stripMetadata } });
    for (const choice of ["gps", "all", "off"])
      assert.equal((await change(choice)).body.router.stripMetadata, choice);
    for (const choice of ["none", null, true]) expectInvalid(await change(choice), "stripMetadata");
  });

  it("go on after a crash between the bytes of parts and the row", async () => {
    const pieces = cutIntoParts(await takeLargePicture());
    const fileSize = pieces.reduce((sum, { length }) => sum + length, 0);
    const upload = await client().init({ fileSize, contentType: "image/jpeg", routeSlug: "all" });
    const parts = await putParts(upload, pieces);
    const { db } = app().app.deps;
    const { transact } = db;
    // The store's own transactions are in no project's lane.
    db.transact = (work, lane) =>
      lane === undefined ? transact(work) : Promise.reject(new Error("the power fails"));
    try {
      assert.equal((await client().completeParts(upload, parts)).status, 500);
    } finally {
      db.transact = transact;
    }
    const done = await client().completeParts(upload, parts);
    assert.equal(done.status, 200, JSON.stringify(done.body));
    const stored = Buffer.from(await (await fetch(done.body.file.url)).arrayBuffer());
    assert.deepEqual([stored.length, stored.includes(secret)], [fileSize, false]);
    await assertCountersMatch(app(), tenant().projectId);
  });

  it("go on after a crash between the bytes and the row", async () => {
    const upload = await client().request({
      fileSize: picture().length,
      contentType: "image/jpeg",
      routeSlug: "all",
    });
    await put(upload.uploadUrl, picture(), "image/jpeg");
    const { db } = app().app.deps;
    const { transact } = db;
    db.transact = () => Promise.reject(new Error("the power fails"));
    try {
      assert.equal((await client().complete(upload.fileId)).status, 500);
    } finally {
      db.transact = transact;
    }
    const { body } = await client().complete(upload.fileId);
    assert.equal(body.file?.size, picture().length, JSON.stringify(body));
    const stored = Buffer.from(await (await fetch(upload.cdnUrl)).arrayBuffer());
    assert.equal(stored.includes(secret), false);
  });

  it("refuse pictures that are too large, and keep nothing of them", async () => {
    const bytes = Buffer.alloc(STRIP_MAX_BYTES + 1);
    picture().copy(bytes);
    const upload = await client().request({
      fileSize: bytes.length,
      contentType: "image/jpeg",
      routeSlug: "gps",
    });
    await put(upload.uploadUrl, bytes, "image/jpeg");
    expectError(await client().complete(upload.fileId), 422, "CONTENT_MISMATCH");
    assert.equal((await client().get(upload.fileId)).body.file.status, "FAILED");
    assert.equal(await app().app.deps.store.findReceived(upload.key), null);
    await assertCountersMatch(app(), tenant().projectId);
  });
});

describe("routes that strip metadata of files in a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  describeRoutes("sqlite", ["all"], () => s3.createEnv());
});

describe("two instances that strip metadata in a bucket whose etags are new with each write", () => {
  it("confirm the bytes that the bucket has", async () => {
    const bucket = await startHostileBucket({ etagPerWrite: true });
    const env = {
      UPSTOW_SECRET: "a-secret-of-both-that-is-long-enough-to-be-one",
      UPSTOW_STORAGE: "s3",
      UPSTOW_S3_ENDPOINT: bucket.url,
      UPSTOW_S3_BUCKET: "files",
      UPSTOW_S3_ACCESS_KEY_ID: "key",
      UPSTOW_S3_SECRET_ACCESS_KEY: "secret",
    };
    const first = await startApp({ database: "postgres", env });
    const reuse = { dataDir: first.dataDir, databaseUrl: first.databaseUrl ?? "" };
    const second = await startApp({ database: "postgres", env, reuse });
    try {
      const tenant = await first.createTenant("pro");
      const clients = [first, second].map((app) => createUploadClient(app, tenant.live));
      const [client] = clients as [UploadClient, UploadClient];
      await client.post(`projects/${tenant.projectId}/routers`, { slug: "all", stripMetadata: "all" });
      const picture = await takePicture(60);
      const sent = { fileSize: picture.length, contentType: "image/jpeg", routeSlug: "all" };
      for (let i = 0; i < 20; i++) {
        const upload = await client.request(sent);
        await put(upload.uploadUrl, picture, "image/jpeg");
        const answers = await Promise.all(clients.map(({ complete }) => complete(upload.fileId)));
        const statuses = answers.map(({ status }) => status).sort();
        assert.deepEqual(statuses, [200, 404], JSON.stringify(answers.map(({ body }) => body)));
        const stored = await fetch(upload.cdnUrl);
        assert.equal(stored.status, 200, await stored.clone().text());
        assert.equal(Buffer.from(await stored.arrayBuffer()).includes(secret), false);
      }
      await assertCountersMatch(first, tenant.projectId);
    } finally {
      await second.app.close();
      await first.close();
      await bucket.stop();
    }
  });
});

describe("pictures in customers' buckets that never answer", () => {
  it("hold up no others", { timeout: 120_000 }, async () => {
    const bucket = await startHostileBucket();
    const app = await startApp({ env: { UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8" } });
    const picture = await takePicture(60);
    const clientOf = async (tenant: Tenant) => {
      const client = createUploadClient(app, tenant.live);
      await client.post(`projects/${tenant.projectId}/routers`, { slug: "all", stripMetadata: "all" });
      return client;
    };
    const send = async (client: UploadClient) => {
      const sent = { fileSize: picture.length, contentType: "image/jpeg", routeSlug: "all" };
      const upload = await client.request(sent);
      await put(upload.uploadUrl, picture, "image/jpeg");
      return upload;
    };
    try {
      const hanging: Promise<unknown>[] = [];
      for (let i = 0; i < STRIPS_AT_ONCE; i++) {
        bucket.lie();
        const tenant = await app.createTenant("pro");
        const owner = await signInAs(app, tenant.accountId);
        const keys = { accessKeyId: "key", secretAccessKey: "secret" };
        const input = { endpoint: bucket.url, bucket: `files-${i}`, ...keys };
        assert.equal((await owner("PUT", `/projects/${tenant.projectId}/storage`, input)).status, 200);
        const client = await clientOf(tenant);
        const uploads = [await send(client), await send(client)];
        const before = bucket.count("put-object");
        bucket.lie("no answer to writes");
        hanging.push(...uploads.map(({ fileId }) => client.complete(fileId).catch(() => {})));
        await until(async () => bucket.count("put-object") > before);
      }
      const client = await clientOf(await app.createTenant("pro"));
      const { fileId } = await send(client);
      const first = await Promise.race([
        client.complete(fileId),
        ...hanging.map((end) => end.then(() => null)),
      ]);
      assert.equal(first?.status, 200);
    } finally {
      await bucket.stop();
      await app.close();
    }
  });
});
