import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { statement } from "../src/db/statement.ts";
import { signVariant } from "./support/sign-variant.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const photo = await sharp({ create: { width: 1000, height: 600, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();
const cutout = await sharp({ create: { width: 80, height: 60, channels: 4, background: "#37a8" } })
  .png()
  .toBuffer();
/** So that the next one who asks has it rendered again. */
const endRefusals = statement((q, _: object) => q.updateTable("variant").set({ lease_until: 0 }));

onAnyDatabase("image transforms", (database) => {
  let app: TestApp;
  let pro: Tenant;
  // biome-ignore lint/suspicious/noExplicitAny: file objects as the API returns them
  let file: any;
  before(async () => {
    app = await startApp({ database });
    pro = await app.createTenant("pro");
    file = await uploadFile(app, photo, { key: pro.live, name: "photo.jpg", type: "image/jpeg" });
  });
  after(() => app.close());

  const transform = (body: object, key = pro.live) => app.call("POST", "transforms/image", { key, body });
  const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });

  it("checks plan, key type, body, file and type in that order", async () => {
    const free = await app.createTenant("free");
    assert.equal((await transform({}, free.test)).body.error.code, "IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN");
    assert.equal((await transform({}, pro.test)).body.error.code, "IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY");
    assert.equal((await transform({ key: file.key })).body.error.code, "VALIDATION_ERROR");
    assert.equal((await transform({ key: "nope", width: 0 })).body.error.code, "VALIDATION_ERROR");
    assert.equal((await transform({ key: "nope", width: 10 })).status, 404);
    const text = await uploadFile(app, "hello", { key: pro.live });
    const refused = await transform({ key: text.key, width: 10 });
    assert.deepEqual([refused.status, refused.body.error.code], [415, "UNSUPPORTED_TRANSFORM_TYPE"]);
    const other = await app.createTenant("pro");
    assert.equal((await transform({ key: file.key, width: 10 }, other.live)).status, 404);
  });

  it("echoes the recipe, leaves out the side that was not asked for, and serves what it promised", async () => {
    const made = await transform({
      key: file.key,
      width: 400,
      height: 400,
      format: "png",
      delivery: "public",
    });
    assert.equal(made.status, 200);
    assert.deepEqual(made.body.transform, {
      width: 400,
      height: 400,
      fit: "scale-down",
      quality: 85,
      format: "png",
    });
    assert.equal(made.body.expiresAt, null);
    assert.match(made.body.url, /\/p\/[\w-]{43}\/w_400,h_400,fit_scale-down,q_85,f_png\//);
    const response = await get(made.body.url);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "image/png");
    assert.equal(response.headers.get("vary"), null);
    const { width, height } = await sharp(await response.bytes()).metadata();
    assert.deepEqual([width, height], [400, 240]);

    const signed = await transform({ key: file.key, height: 50 });
    assert.deepEqual(signed.body.transform, { height: 50, fit: "scale-down", quality: 85, format: "auto" });
    assert.match(signed.body.url, /\/t\/\d+\/[\w-]{43}\/h_50,fit_scale-down,q_85,f_auto\//);
    assert.ok(Date.parse(signed.body.expiresAt) > app.clock.now() + 24 * 3_600_000);
  });

  it("negotiates auto by Accept, with Vary and one ETag per format", async () => {
    const made = await transform({ key: file.key, width: 64, delivery: "public" });
    const seen = new Map<string, string | null>();
    for (const [accept, type] of [
      ["image/avif,image/webp,*/*", "image/avif"],
      ["image/webp", "image/webp"],
      ["*/*", "image/jpeg"],
      ["image/avif;q=0", "image/jpeg"],
    ] as const) {
      const response = await get(made.body.url, { accept });
      assert.equal(response.headers.get("content-type"), type);
      assert.equal(response.headers.get("vary"), "Accept");
      seen.set(type, response.headers.get("etag"));
    }
    assert.equal(new Set(seen.values()).size, 3);
    const again = await get(made.body.url, {
      accept: "image/webp",
      "if-none-match": seen.get("image/webp") ?? "",
    });
    assert.deepEqual([again.status, again.headers.get("vary")], [304, "Accept"]);
    const alpha = await uploadFile(app, cutout, { key: pro.live, name: "cut.png", type: "image/png" });
    const cut = await transform({ key: alpha.key, width: 20, delivery: "public" });
    assert.equal((await get(cut.body.url, { accept: "*/*" })).headers.get("content-type"), "image/png");
  });

  it("counts a variant once per month whatever the delivery, and stops new ones at the limit", async () => {
    const tenant = await app.createTenant("pro");
    const own = await uploadFile(app, photo, { key: tenant.live, name: "p.jpg", type: "image/jpeg" });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        transform(
          { key: own.key, width: 10, format: "webp", delivery: i % 2 ? "public" : "signed" },
          tenant.live,
        ),
      ),
    );
    assert.equal(answers.filter((answer) => answer.body.usage.counted).length, 1);
    assert.ok(answers.every((answer) => answer.body.usage.used === 1 && answer.body.usage.units === 1));
    const auto = await transform({ key: own.key, width: 10 }, tenant.live);
    assert.deepEqual(
      [auto.body.usage.used, auto.body.usage.units, auto.body.usage.limit, auto.body.usage.counted],
      [4, 3, 5000, true],
    );
    const usage = await app.call("GET", "usage", { key: tenant.live });
    assert.equal(usage.body.usage.transformUnits, 4);
  });

  it("answers 429 beyond the limit, without a suggestion, and still serves what was counted", async () => {
    const { accountId } = app.owner;
    const { setOwnLimits } = await import("../src/projects/accounts/queries.ts");
    await app.app.deps.db.run(setOwnLimits, {
      id: accountId,
      rateUpload: null,
      rateTransform: null,
      rateOther: null,
      transformUnits: 2,
      now: app.clock.now(),
    });
    const own = await uploadFile(app, photo, { key: app.owner.live, name: "p.jpg", type: "image/jpeg" });
    const sizes = [11, 12, 13, 14, 15, 16];
    const answers = await Promise.all(
      sizes.map((width) => transform({ key: own.key, width, format: "webp" }, app.owner.live)),
    );
    assert.equal(answers.filter((answer) => answer.status === 200).length, 2);
    const refused = answers.find((answer) => answer.status === 429);
    assert.equal(refused?.body.error.code, "IMAGE_TRANSFORM_LIMIT_EXCEEDED");
    assert.equal(refused?.body.error.suggestion, undefined);
    const waitSec = Number(refused?.headers.get("retry-after"));
    const retryAt = new Date(app.clock.now() + waitSec * 1000);
    assert.deepEqual([retryAt.getUTCDate(), retryAt.getUTCHours()], [1, 0], "when the next month begins");
    assert.ok(refused?.body.error.message.endsWith(`Retry after ${waitSec} seconds.`));
    const paid = sizes[answers.findIndex((answer) => answer.status === 200)];
    const again = await transform({ key: own.key, width: paid, format: "webp" }, app.owner.live);
    assert.deepEqual([again.status, again.body.usage.counted], [200, false]);
    assert.equal((await transform({ key: own.key, width: 17 }, app.owner.live)).status, 429);
  });

  it("refuses every edited, reordered, expired or exchanged URL with 403", async () => {
    const { url } = (
      await transform({ key: file.key, width: 300, height: 200, format: "jpeg", delivery: "public" })
    ).body;
    const { url: signed } = (await transform({ key: file.key, width: 300, height: 200, format: "jpeg" }))
      .body;
    const edits = [
      url.replace("w_300", "w_301"),
      url.replace("w_300", "w_0300"),
      url.replace("w_300,h_200", "h_200,w_300"),
      url.replace("q_85", "q_86"),
      url.replace("f_jpeg", "f_png"),
      url.replace("photo.jpg", "photo2.jpg"),
      url.replace("photo.jpg", "photo%252ejpg"),
      url.replace("/p/", "/p/A"),
      `${url}/`,
      `${url}/?a=1`,
      `${signed}/`,
      url.replace("/p/", `/t/${Math.floor(Date.now() / 1000) + 900}/`),
      signed.replace(/\/t\/(\d+)/, (_: string, expires: string) => `/t/${Number(expires) + 1}`),
      signed.replace(/\/t\/\d+\//, "/p/"),
    ];
    for (const edited of edits) {
      assert.notEqual(edited, url);
      const response = await get(edited);
      assert.equal(response.status, 403, edited);
    }
    assert.equal((await get(signed)).status, 200);
    app.clock.advance(27 * 3_600_000);
    assert.equal((await get(signed)).status, 403);
    assert.equal((await get(url)).status, 200);
  });

  it("renders once for many that ask at the same moment", async () => {
    const made = await transform({ key: file.key, width: 777, format: "avif", delivery: "public" });
    const responses = await Promise.all(Array.from({ length: 50 }, () => get(made.body.url)));
    const bodies = await Promise.all(responses.map((response) => response.bytes()));
    assert.ok(responses.every((response) => response.status === 200));
    assert.equal(new Set(responses.map((response) => response.headers.get("etag"))).size, 1);
    assert.ok(bodies.every((body) => body.byteLength === bodies[0]?.byteLength));
  });

  it("serves ranges, and nothing from the moment the file is deleted", async () => {
    const own = await uploadFile(app, photo, { key: pro.live, name: "gone.jpg", type: "image/jpeg" });
    const { url } = (await transform({ key: own.key, width: 200, format: "jpeg", delivery: "public" })).body;
    const whole = await (await get(url)).bytes();
    const part = await get(url, { range: "bytes=10-19" });
    assert.equal(part.status, 206);
    assert.deepEqual(await part.bytes(), whole.subarray(10, 20));
    await app.call("DELETE", `files/${encodeURIComponent(own.key)}`, { key: pro.live });
    const gone = await get(url);
    assert.deepEqual([gone.status, gone.headers.get("cache-control")], [404, "public, max-age=60"]);
  });

  it("answers 415 for bytes that are no image and 422 for broken ones, again and again", async () => {
    const lying = await uploadFile(app, "<svg xmlns='http://www.w3.org/2000/svg'/>", {
      key: pro.live,
      name: "x.png",
      type: "image/png",
    });
    const cut = await uploadFile(app, photo.subarray(0, 900), {
      key: pro.live,
      name: "c.jpg",
      type: "image/jpeg",
    });
    for (const [source, asked, status] of [
      [lying, 415, 415],
      [cut, 200, 422],
    ] as const) {
      assert.equal((await transform({ key: source.key, width: 20, format: "png" })).status, asked);
      const url = await signVariant(app, source.key, { width: 20, format: "png" });
      assert.equal((await get(url)).status, status);
      assert.equal((await get(url)).status, status);
    }
  });

  it("tells each of those who are refused together how long they may keep that", async () => {
    const cut = await uploadFile(app, photo.subarray(0, 900), { key: pro.live, type: "image/jpeg" });
    const ask = async (delivery: string): Promise<string> =>
      (await transform({ key: cut.key, width: 20, format: "png", delivery })).body.url;
    const [signed, open] = [await ask("signed"), await ask("public")];
    await (await get(open)).bytes();
    app.clock.setTime(Number(new URL(signed).pathname.split("/")[2]) * 1000 - 12_000);
    await app.app.deps.db.run(endRefusals, {});
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => get(i % 2 === 0 ? signed : open)));
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get("cache-control")]),
      answers.map((_, i) => [422, `public, max-age=${i % 2 === 0 ? 12 : 60}`]),
    );
  });
});
