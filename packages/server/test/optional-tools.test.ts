import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { findTools, noTools, toolNames } from "../src/serving/images/render/tools/recipes.ts";
import { expectError } from "./support/expect-error.ts";
import { makeHeic, makePdf, makeVideo } from "./support/render/tool-sources.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { until } from "./support/webhooks/until.ts";

const found = findTools();
const lacking = toolNames.filter((name) => !found.has(name));
const toolsMissing = lacking.length > 0 && `${lacking.join(", ")}: not installed`;

interface Sample {
  name: string;
  type: string;
  make: () => Promise<Buffer> | Buffer;
  size: [width: number, height: number];
}

const picture = sharp({ create: { width: 300, height: 200, channels: 3, background: "#369" } }).png();
const samples: Sample[] = [
  {
    name: "photo.heic",
    type: "image/heic",
    make: async () => makeHeic(await picture.clone().toBuffer()),
    size: [300, 200],
  },
  { name: "paper.pdf", type: "application/pdf", make: () => makePdf(), size: [2048, 1024] },
  { name: "clip.mp4", type: "video/mp4", make: () => makeVideo("clip.mp4"), size: [320, 180] },
  { name: "clip.webm", type: "video/webm", make: () => makeVideo("clip.webm"), size: [320, 180] },
];

onAnyDatabase("optional tools", (database) => {
  let app: TestApp;
  let without: TestApp;
  let tenant: Tenant;
  let poor: Tenant;
  before(async () => {
    app = await startApp({ database });
    without = await startApp({ database, tools: noTools });
    tenant = await app.createTenant("pro");
    poor = await without.createTenant("pro");
  });
  after(() => Promise.all([app.close(), without.close()]));

  const transform = (at: TestApp, key: string, body: object) =>
    at.call("POST", "transforms/image", { key, body: { width: 64, format: "webp", ...body } });

  // What each of them shows is looked at beside the tools themselves.
  for (const { name, type, make, size } of isQuickRun
    ? samples.filter(({ type }) => type !== "video/webm")
    : samples) {
    it(`make variants and facts of ${name}`, { skip: toolsMissing }, async () => {
      const { key } = await uploadFile(app, await make(), { key: tenant.live, name, type });
      const signed = await transform(app, tenant.live, { key });
      assert.equal(signed.status, 200, JSON.stringify(signed.body));
      for (const url of [signed.body.url, `${app.url}/i/w_64,fit_scale-down,q_75,f_webp/${key}`]) {
        const response = await fetch(url);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("content-type"), "image/webp");
        const { width, height } = await sharp(await response.bytes()).metadata();
        assert.deepEqual([width, height], [64, Math.round((64 * size[1]) / size[0])]);
      }
      const image = await until(
        async () => (await app.call("GET", `files/${key}`, { key: tenant.live })).body.file.image,
      );
      assert.deepEqual([image.width, image.height], size);
      if (type.startsWith("video/")) assert.equal(Math.round(image.duration), 2);
      else assert.equal(image.duration, undefined);
    });
  }

  it("that are not installed leave their files as they were: no images", async () => {
    for (const { name, type } of samples) {
      const bytes = name === "paper.pdf" ? makePdf() : Buffer.from("no matter");
      const { key } = await uploadFile(without, bytes, { key: poor.live, name, type });
      expectError(await transform(without, poor.live, { key }), 415, "UNSUPPORTED_TRANSFORM_TYPE");
      const response = await fetch(`${without.url}/i/w_64,fit_scale-down,q_75,f_webp/${key}`);
      assert.equal(response.status, 415);
      await response.bytes();
      assert.equal((await without.call("GET", `files/${key}`, { key: poor.live })).body.file.image, null);
    }
    assert.equal((await without.call("GET", "usage", { key: poor.live })).body.usage.transformUnits, 0);
  });

  it("read no file that is only called one of theirs, and charge nothing for it", {
    skip: toolsMissing,
  }, async () => {
    const playlist = "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n";
    const { key } = await uploadFile(app, playlist, { key: tenant.live, name: "a.mp4", type: "video/mp4" });
    const before = (await app.call("GET", "usage", { key: tenant.live })).body.usage.transformUnits;
    expectError(await transform(app, tenant.live, { key }), 415, "UNSUPPORTED_TRANSFORM_TYPE");
    assert.equal((await app.call("GET", "usage", { key: tenant.live })).body.usage.transformUnits, before);
  });
});
