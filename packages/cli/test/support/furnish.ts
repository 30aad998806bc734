import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { callApi, type Tenant, type TestApp } from "../../../server/test/support/start-app.ts";
import {
  createUploadClient,
  type InitiatedUpload,
  partPieces,
  put,
  putParts,
  type RequestedUpload,
  type UploadedFile,
} from "../../../server/test/support/upload-client.ts";

/** An installation with something of everything in it. */
export interface Furnished {
  tenant: Tenant;
  files: UploadedFile[];
  deleted: UploadedFile;
  /** The path of a variant that was rendered. */
  variant: string;
  /** Its body has arrived, and it is not completed. */
  arrived: RequestedUpload;
  arrivedBytes: Buffer;
  /** Some of its parts have arrived. */
  inParts: InitiatedUpload;
}

const oddMetadata = { quote: "'\"\\", line: "a\nb", emoji: "🗂️", number: 1.5, flag: true, none: null };

export async function furnish(app: TestApp): Promise<Furnished> {
  const tenant = await app.createTenant("enterprise");
  const client = createUploadClient(app, tenant.live);
  const webhookUrl = "https://localhost:1/hook";
  const route = await app.call("POST", `projects/${tenant.projectId}/routers`, {
    key: tenant.live,
    body: { slug: "hooked", webhookUrl },
  });
  assert.equal(route.status, 201, JSON.stringify(route.body));
  const pieces = partPieces();
  const picture = await sharp({ create: { width: 60, height: 40, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const image = await client.upload(picture, { fileName: "bild ö.png", contentType: "image/png" });
  const files = [
    image,
    await client.upload(randomBytes(10), { fileName: "tiny.txt" }),
    await client.upload(randomBytes(200_000), {
      fileName: "日本語 'quoted'.html",
      contentType: "text/html",
      metadata: oddMetadata,
    }),
    await client.upload(randomBytes(9 * 1024 * 1024), { fileName: "large.bin", routeSlug: "hooked" }),
    await client.uploadPieces(pieces),
    await createUploadClient(app, tenant.test).upload(randomBytes(50), { fileName: "sandbox.txt" }),
  ];
  const deleted = await client.upload(randomBytes(30));
  assert.equal((await client.remove(deleted.key)).status, 200);
  const variant = await client.post("transforms/image", {
    key: image.key,
    width: 20,
    format: "webp",
    delivery: "public",
  });
  assert.equal(variant.status, 200, JSON.stringify(variant.body));
  const { pathname } = new URL(variant.body.url);
  assert.equal((await fetch(app.url + pathname).then(drain)).status, 200);

  const arrivedBytes = randomBytes(500);
  const arrived = await client.request({ fileSize: arrivedBytes.length });
  assert.equal((await put(arrived.uploadUrl, arrivedBytes)).status, 200);
  const inParts = await client.init();
  await putParts(inParts, pieces.slice(0, 1));
  return { tenant, files, deleted, variant: pathname, arrived, arrivedBytes, inParts };
}

async function drain(answer: Response): Promise<Response> {
  await answer.arrayBuffer();
  return answer;
}

const isLasting = ({ type }: { type: string }) => !type.startsWith("webhook.");
const served = ["content-type", "content-length", "content-disposition", "etag", "last-modified"];

/** All that can be read of it from outside; the same wherever it is kept. */
export async function readAllOf(url: string, furnished: Furnished): Promise<unknown> {
  const { tenant, files, deleted, variant } = furnished;
  const paths = [...files.map((file) => new URL(file.url).pathname), new URL(deleted.url).pathname, variant];
  const bytes = [];
  for (const path of paths) {
    const answer = await fetch(url + path);
    const sha256 = createHash("sha256")
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest("hex");
    const headers = served.map((name) => answer.headers.get(name));
    bytes.push({ path, status: answer.status, headers, ...(answer.ok ? { sha256 } : {}) });
  }
  const answers = [];
  for (const path of [
    "files?limit=100",
    "projects",
    `projects/${tenant.projectId}/routers`,
    "logs?limit=100",
    "usage",
  ]) {
    const { status, body } = await callApi(url, "GET", path, { key: tenant.live });
    assert.equal(status, 200, path);
    // Deliveries are tried again as soon as the service may.
    if (path.startsWith("logs")) body.logs = body.logs.filter(isLasting);
    answers.push(body);
  }
  const deliveries = await callApi(url, "GET", "webhooks/deliveries", { key: tenant.live });
  assert.ok(deliveries.body.deliveries.length > 0, JSON.stringify(deliveries.body));
  const ids = deliveries.body.deliveries.map(({ id }: { id: string }) => id);
  const usage = answers.at(-1) as { usage: { bandwidthBytes?: number } };
  // Reading is counted, so each reading finds another sum.
  delete usage.usage.bandwidthBytes;
  return JSON.parse(JSON.stringify({ bytes, answers, ids }).replaceAll(url, ""));
}

/** The service looks every second whether it may change things again. */
export async function untilWritable(app: TestApp, key: string): Promise<void> {
  const client = createUploadClient(app, key);
  for (;;) {
    const { status } = await client.requestAnswer();
    if (status === 200) return;
    assert.equal(status, 503);
    await wait(50);
  }
}
