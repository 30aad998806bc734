import assert from "node:assert/strict";
import { it } from "node:test";
import sharp from "sharp";
import { startApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";

const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();

it("private files are kept by no shared cache, though one keeps public files", async () => {
  const app = await startApp({ env: { UPSTOW_CDN_PURGE: "http://127.0.0.1:9/purge" } });
  try {
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const picked = { contentType: "image/png", fileName: "a.png" };
    const [open, secret] = [
      await client.upload(picture, picked),
      await client.upload(picture, { ...picked, access: "private" }),
    ];
    const { links } = (await client.post("files/links", { keys: [open.key, secret.key] })).body;
    const counted = await client.post("files/links", { keys: [secret.key], maxUses: 9 });
    const { grant } = (await client.post("files/grants", { routeSlug: "default" })).body;
    const variant = await client.post("transforms/image", { key: secret.key, width: 9, format: "webp" });
    const shared = (await fetch(open.url)).headers.get("cdn-cache-control");
    assert.match(shared ?? "", /max-age=\d/);
    for (const url of [
      links[0].url,
      links[1].url,
      counted.body.links[0].url,
      `${grant.baseUrl}/${open.key}`,
      `${grant.baseUrl}/${secret.key}`,
      variant.body.url,
    ]) {
      const { status, headers } = await fetch(url);
      assert.deepEqual(
        [status, headers.get("cdn-cache-control"), headers.get("cache-tag")],
        [200, null, null],
      );
      assert.match(headers.get("cache-control") ?? "", /^(private, max-age=0, must-revalidate|no-store)$/);
    }
  } finally {
    await app.close();
  }
});
