import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { keepData } from "./support/keep-data.ts";
import { anyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const photo = await sharp({ create: { width: 100, height: 60, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();

describe("delivery of variants", () => {
  let app: TestApp;
  let pro: Tenant;
  let key: string;
  before(async () => {
    app = await startApp();
    pro = await app.createTenant("pro");
    key = (await upload(photo)).key;
  });
  after(() => app.close());

  const upload = (bytes: Uint8Array | string, name = "photo.jpg") =>
    uploadFile(app, bytes, { key: pro.live, name, type: "image/jpeg" });
  const transform = (body: object, headers: Record<string, string> = {}) =>
    app.call("POST", "transforms/image", { key: pro.live, body: { key, ...body }, headers });
  const urlOf = async (body: object): Promise<string> => (await transform(body)).body.url;

  it("refuses bodies that only look right", async () => {
    const bodies = [
      { width: "40" },
      { width: 40.5 },
      { width: 0 },
      { width: 4097 },
      { height: -1 },
      { width: null },
      { width: 40, quality: 0 },
      { width: 40, quality: 101 },
      { width: 40, fit: "fill" },
      { width: 40, format: "gif" },
      { width: 40, delivery: "private" },
      { width: 40, key: "" },
      { width: 40, key: 7 },
      {},
    ];
    for (const body of bodies) {
      const { status, body: answer } = await transform(body);
      assert.deepEqual([status, answer.error.code], [400, "VALIDATION_ERROR"], JSON.stringify(body));
    }
    assert.equal((await transform({ width: 4096, height: 1, quality: 1 })).status, 200);
  });

  it("says Vary on every answer of f_auto, and on no other image", async () => {
    const auto = await urlOf({ width: 20, delivery: "public" });
    const explicit = await urlOf({ width: 20, format: "webp", delivery: "public" });
    const accept = "image/webp";
    const etag = (await fetch(auto, { headers: { accept } })).headers.get("etag") ?? "";
    const broken = (await upload(photo.subarray(0, 300))).key;
    const gone = (await upload(photo)).key;
    const urls = await Promise.all([
      urlOf({ key: broken, width: 20, delivery: "public" }),
      urlOf({ key: gone, width: 20, delivery: "public" }),
    ]);
    await app.call("DELETE", `files/${encodeURIComponent(gone)}`, { key: pro.live });
    const answers: [number, string, Record<string, string>][] = [
      [200, auto, {}],
      [304, auto, { accept, "if-none-match": etag }],
      [206, auto, { accept, range: "bytes=0-3" }],
      [416, auto, { accept, range: "bytes=999999-" }],
      [412, auto, { accept, "if-match": '"other"' }],
      [403, auto.replace("w_20", "w_21"), {}],
      [422, urls[0], {}],
      [404, urls[1], {}],
    ];
    for (const [status, url, headers] of answers) {
      const response = await fetch(url, { headers });
      await response.bytes();
      assert.deepEqual([response.status, response.headers.get("vary")], [status, "Accept"], url);
    }
    assert.equal((await fetch(explicit)).headers.get("vary"), null);
    // Errors are pages for people who open a URL.
    assert.equal((await fetch(explicit.replace("w_20", "w_21"))).headers.get("vary"), "Accept");
  });

  it("answers HEAD like GET, without a body", async () => {
    const url = await urlOf({ width: 25, format: "png", delivery: "public" });
    const [got, head] = [await fetch(url), await fetch(url, { method: "HEAD" })];
    const body = await got.bytes();
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-length"), String(body.byteLength));
    for (const name of ["content-type", "etag", "last-modified", "content-disposition", "cache-control"]) {
      assert.equal(head.headers.get(name), got.headers.get(name), name);
    }
  });

  it("answers again as the first time, by every address of one variant, until its file is deleted", async () => {
    const name = (await upload(photo)).key;
    const wanted = { key: name, width: 31, delivery: "public" };
    const plain = await urlOf({ ...wanted, format: "webp" });
    const addresses = [
      plain,
      await urlOf(wanted),
      await urlOf({ ...wanted, format: "webp", delivery: "signed" }),
    ];
    const read = async (url: string, headers: Record<string, string> = {}) => {
      const response = await fetch(url, { headers: { accept: "image/webp", ...headers } });
      const { date, "x-request-id": _, ...kept } = Object.fromEntries(response.headers);
      assert.ok(date);
      return { status: response.status, kept, body: Buffer.from(await response.bytes()).toString("hex") };
    };
    const first = await Promise.all(addresses.map((url) => read(url)));
    assert.deepEqual(
      first.map(({ status, kept }) => [status, kept["vary"]]),
      [
        [200, undefined],
        [200, "Accept"],
        [200, undefined],
      ],
    );
    for (let turn = 0; turn < 3; turn++) {
      for (const [i, url] of addresses.entries()) assert.deepEqual(await read(url), first[i], url);
    }
    const etag = first[0]?.kept["etag"] ?? "";
    assert.equal((await read(plain, { "if-none-match": etag })).status, 304);
    const part = await read(plain, { range: "bytes=2-5" });
    assert.deepEqual([part.status, part.body], [206, first[0]?.body.slice(4, 12)]);
    await app.call("DELETE", `files/${encodeURIComponent(name)}`, { key: pro.live });
    for (const url of addresses) assert.equal((await read(url)).status, 404);
  });

  it("lets no cache keep a signed variant past its end, nor a refusal at all", async () => {
    const signed = await urlOf({ width: 26, format: "png" });
    const response = await fetch(signed);
    assert.equal(response.headers.get("cache-control"), "public, max-age=0, must-revalidate");
    assert.equal(response.headers.get("cdn-cache-control"), null);
    const refused = await fetch(signed.replace("w_26", "w_27"));
    assert.equal(refused.headers.get("cache-control"), "no-store");
  });

  it("refuses an address that was cut short as it does any other edit", async () => {
    for (const path of ["p/x", "p/x/y", "t/1", "t/1/2", "t/1/2/3"]) {
      for (const method of ["GET", "HEAD"]) {
        const { status, headers } = await fetch(new URL(path, app.url), { method });
        assert.deepEqual(
          [status, headers.get("cache-control"), headers.get("access-control-allow-origin")],
          [403, "no-store", "*"],
          `${method} ${path}`,
        );
      }
    }
  });

  it("refuses an address with a NUL in any part as it does any other edit", async () => {
    const url = await urlOf({ width: 28, format: "png", delivery: "public" });
    const { pathname } = new URL(url);
    for (const edited of [`${pathname}%00`, pathname.replace("w_28", "w_28%00"), "/t/1/2/3/%00", "/p/%00"]) {
      const response = await fetch(new URL(edited, url));
      assert.equal(response.status, 403, edited);
    }
  });

  it("serves names of every kind, each under the ending of its format", async () => {
    for (const [name, saved] of [
      ["ein Föto #1?.jpeg", "ein Föto #1?.webp"],
      ["100%25.png.jpg", "100%25.png.webp"],
      ["noending", "noending.webp"],
      ["写真", "写真.webp"],
    ] as const) {
      const own = await upload(photo, name);
      const url = await urlOf({ key: own.key, width: 20, format: "webp", delivery: "public" });
      const response = await fetch(url);
      assert.equal(response.status, 200, url);
      const disposition = response.headers.get("content-disposition") ?? "";
      assert.equal(decodeURIComponent(disposition.split("UTF-8''")[1] ?? ""), saved);
      assert.equal((await sharp(await response.bytes()).metadata()).width, 20);
    }
  });

  it("repeats an answer under its Idempotency-Key, its usage too, and counts nothing", async () => {
    const headers = { "idempotency-key": "once" };
    const first = await transform({ width: 77 }, headers);
    await transform({ width: 78 });
    const again = await transform({ width: 77 }, headers);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.deepEqual(again.body, first.body);
    assert.equal(first.body.usage.counted, true);
    const refused = { "idempotency-key": "refused" };
    const missing = { key: "nothing", width: 5 };
    for (const attempt of [await transform(missing, refused), await transform(missing, refused)]) {
      assert.deepEqual([attempt.status, attempt.body.error.code], [404, "NOT_FOUND"]);
    }
  });

  it("counts a variant again in the next month", async () => {
    const made = await transform({ width: 79, format: "webp" });
    const next = new Date(app.clock.now());
    app.clock.advance(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 2) - next.getTime());
    const later = await transform({ width: 79, format: "webp" });
    assert.deepEqual([made.body.usage.counted, later.body.usage.counted], [true, true]);
    assert.notEqual(later.body.usage.period, made.body.usage.period);
    assert.equal(later.body.usage.used, 1);
  });
});

describe("secrets of variants", () => {
  it("are replaced without ending public URLs; signed ones end when their secret goes", async () => {
    const kept = await keepData(anyDatabase);
    const [old, fresh] = ["a".repeat(40), "b".repeat(40)];
    const start = (secret: string) => startApp({ env: { UPSTOW_SECRET: secret }, reuse: kept.reuse });
    const statusOf = async (app: TestApp, url: string) =>
      (await fetch(new URL(new URL(url).pathname, app.url))).status;

    const first = await start(old);
    const { live } = first.owner;
    const { key } = await uploadFile(first, photo, { key: live, name: "p.jpg", type: "image/jpeg" });
    const ask = async (app: TestApp, delivery: string): Promise<string> =>
      (
        await app.call("POST", "transforms/image", {
          key: live,
          body: { key, width: 20, format: "png", delivery },
        })
      ).body.url;
    const [open, signed] = [await ask(first, "public"), await ask(first, "signed")];
    await first.close();

    const second = await start(`${fresh},${old}`);
    assert.deepEqual([await statusOf(second, open), await statusOf(second, signed)], [200, 200]);
    assert.notEqual(new URL(await ask(second, "public")).pathname, new URL(open).pathname);
    await second.close();

    const third = await start(fresh);
    assert.deepEqual([await statusOf(third, open), await statusOf(third, signed)], [200, 403]);
    await third.close();
    await kept.remove();
  });
});

describe("refusals of variants", () => {
  it("may be kept for a minute, but never past the end of a signed URL", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    app.clock.setTime(Date.UTC(2026, 5, 1, 12, 30));
    const pro = await app.createTenant("pro");
    const broken = await uploadFile(app, photo.subarray(0, photo.length - 30), {
      key: pro.live,
      name: "p",
      type: "image/jpeg",
    });
    const ask = async (delivery: string): Promise<string> => {
      const body = { key: broken.key, width: 20, format: "png", delivery };
      return (await app.call("POST", "transforms/image", { key: pro.live, body })).body.url;
    };
    const [signed, open] = [await ask("signed"), await ask("public")];
    const cacheControl = async (url: string) => {
      const response = await fetch(url);
      assert.equal(response.status, 422);
      return response.headers.get("cache-control");
    };
    assert.equal(await cacheControl(signed), "public, max-age=60");
    app.clock.setTime(Number(new URL(signed).pathname.split("/")[2]) * 1000 - 12_000);
    assert.equal(await cacheControl(signed), "public, max-age=12");
    assert.equal(await cacheControl(open), "public, max-age=60");
    app.clock.advance(12_000);
    assert.equal((await fetch(signed)).status, 403);
  });
});
