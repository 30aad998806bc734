import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, put, type UploadClient } from "./support/upload-client.ts";

const photo = await sharp({ create: { width: 64, height: 48, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();
const jpeg = { fileName: "photo.jpg", contentType: "image/jpeg" };

onAnyDatabase("image transforms as the contract states them", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let key: string;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    key = (await client.upload(photo, jpeg)).key;
  });
  after(() => app.close());
  const transform = (body: object) => client.post("transforms/image", { key, ...body });

  it("answers with exactly five fields, and usage with five", async () => {
    for (const delivery of ["signed", "public"]) {
      const { status, body } = await transform({ width: 20, format: "webp", delivery });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), ["delivery", "expiresAt", "transform", "url", "usage"]);
      assert.equal(body.delivery, delivery);
      assert.ok(body.url.startsWith(`${app.app.deps.config.cdnUrl}/`));
      assert.deepEqual(Object.keys(body.usage).sort(), ["counted", "limit", "period", "units", "used"]);
      const { period, used, limit, units, counted } = body.usage;
      assert.equal(period, new Date(app.clock.now()).toISOString().slice(0, 7));
      assert.deepEqual([used, limit, units, counted], [1, 5000, 1, delivery === "signed"]);
    }
  });

  it("is open to every paid plan", async () => {
    for (const tier of ["pro", "team", "enterprise"] as const) {
      const paid = createUploadClient(app, (await app.createTenant(tier)).live);
      const file = await paid.upload(photo, jpeg);
      assert.equal((await paid.post("transforms/image", { key: file.key, width: 8 })).status, 200, tier);
    }
    const free = createUploadClient(app, (await app.createTenant("free")).live);
    const file = await free.upload(photo, jpeg);
    const refused = await free.post("transforms/image", { key: file.key, width: 8 });
    expectError(refused, 403, "IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN");
  });

  it("takes sides from 1 to 4096, quality from 1 to 100, five fits and five formats", async () => {
    for (const side of ["width", "height"]) {
      for (const value of [1, 4096])
        assert.equal((await transform({ [side]: value })).body.transform[side], value);
      for (const value of [0, 4097, -1, 1.5, "8"]) expectInvalid(await transform({ [side]: value }), side);
    }
    for (const quality of [1, 100])
      assert.equal((await transform({ width: 9, quality })).body.transform.quality, quality);
    for (const quality of [0, 101]) expectInvalid(await transform({ width: 9, quality }), "quality");
    for (const fit of ["scale-down", "contain", "cover", "crop", "pad"])
      assert.equal((await transform({ width: 9, fit })).body.transform.fit, fit);
    for (const [format, units] of Object.entries({ auto: 3, avif: 1, webp: 1, jpeg: 1, png: 1 })) {
      const { body } = await transform({ width: 9, format });
      assert.deepEqual([body.transform.format, body.usage.units], [format, units]);
    }
    expectInvalid(await transform({}), "width");
    expectInvalid(await transform({ width: 9, key: undefined }), "key");
  });

  it("writes the recipe into the path, without the side that was not requested", async () => {
    const pathOf = async (body: object) => new URL((await transform(body)).body.url).pathname;
    const encoded = key.split("/").map(encodeURIComponent).join("/");
    for (const [body, recipe] of [
      [{ width: 30 }, "w_30,fit_scale-down,q_85,f_auto"],
      [{ height: 30, fit: "pad", quality: 70, format: "png" }, "h_30,fit_pad,q_70,f_png"],
      [{ width: 30, height: 20, format: "jpeg" }, "w_30,h_20,fit_scale-down,q_85,f_jpeg"],
    ] as const) {
      const open = await pathOf({ ...body, delivery: "public" });
      assert.match(open, /^\/p\/[\w-]+\//);
      assert.ok(open.endsWith(`/${recipe}/${encoded}`), open);
      const signed = await pathOf(body);
      assert.match(signed, /^\/t\/\d+\/[\w-]+\//);
      assert.ok(signed.endsWith(`/${recipe}/${encoded}`), signed);
    }
  });

  it("knows no file that is still uploading, deleted, of the test environment or of another project", async () => {
    const open = await client.request({ fileSize: photo.length, ...jpeg });
    expectError(await transform({ key: open.key, width: 9 }), 404, "NOT_FOUND");
    await put(open.uploadUrl, photo, "image/jpeg");
    expectError(await transform({ key: open.key, width: 9 }), 404, "NOT_FOUND");
    const deleted = await client.upload(photo, jpeg);
    await client.remove(deleted.key);
    expectError(await transform({ key: deleted.key, width: 9 }), 404, "NOT_FOUND");
    const other = await app.createTenant("pro");
    for (const foreign of [tenant.test, other.live]) {
      const file = await createUploadClient(app, foreign).upload(photo, jpeg);
      expectError(await transform({ key: file.key, width: 9 }), 404, "NOT_FOUND");
    }
  });

  it("expires a signed URL at expiresAt, and a public one never", async () => {
    const signed = (await transform({ width: 12, format: "png" })).body;
    const open = (await transform({ width: 12, format: "png", delivery: "public" })).body;
    assert.match(signed.expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(open.expiresAt, null);
    const end = Date.parse(signed.expiresAt);
    app.clock.setTime(end - 1000);
    assert.equal((await fetch(signed.url)).status, 200);
    app.clock.setTime(end);
    assert.equal((await fetch(signed.url)).status, 403);
    app.clock.setTime(end + 20 * 365 * 86_400_000);
    assert.equal((await fetch(open.url)).status, 200);
  });
});
