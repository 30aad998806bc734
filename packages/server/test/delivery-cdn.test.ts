import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { readConfig } from "../src/config.ts";
import { statement } from "../src/db/statement.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import { createCdnPurge, sharedCacheHeaders } from "../src/serving/purge.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import { uploadFile } from "./support/upload.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

interface Order {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: each driver sends another shape
  body: any;
}

/** Stands where a CDN's interface would. */
async function startCdn() {
  const orders: Order[] = [];
  const answer = { status: 200, body: '{"success":true}', location: "" };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    orders.push({ path: request.url ?? "", headers: request.headers, body: JSON.parse(text) });
    response.writeHead(answer.status, answer.location === "" ? {} : { location: answer.location });
    response.end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    orders,
    answer,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const purgeOf = (value: string) => readConfig({ UPSTOW_CDN_PURGE: value }).cdnPurge;

describe("purge drivers", () => {
  let cdn: Awaited<ReturnType<typeof startCdn>>;
  before(async () => {
    cdn = await startCdn();
  });
  after(() => cdn.close());

  const files = [
    { id: "a1", urls: ["https://cdn.example/f/p/r/a1/x"] },
    { id: "b2", urls: ["https://cdn.example/f/p/r/b2/y"] },
  ];
  const create = (value: string) => {
    const config = purgeOf(value);
    assert.ok(config);
    return createCdnPurge(config, { cloudflare: `${cdn.url}/cf`, fastly: `${cdn.url}/fastly` });
  };

  it("orders Cloudflare, Fastly and any other by HTTP", async () => {
    await create("cloudflare:zone1:tok:en").purge(files);
    await create("fastly:service1:secret").purge(files);
    await create(`${cdn.url}/hook?token=t`).purge(files);
    const [cloudflare, fastly, generic] = cdn.orders;
    assert.equal(cloudflare?.path, "/cf/zones/zone1/purge_cache");
    assert.equal(cloudflare?.headers.authorization, "Bearer tok:en");
    assert.deepEqual(cloudflare?.body, { tags: ["file-a1", "file-b2"] });
    assert.equal(fastly?.path, "/fastly/service/service1/purge");
    assert.equal(fastly?.headers["fastly-key"], "secret");
    assert.deepEqual(fastly?.body, { surrogate_keys: ["file-a1", "file-b2"] });
    assert.equal(generic?.path, "/hook?token=t");
    assert.deepEqual(generic?.body, {
      urls: files.flatMap((file) => file.urls),
      tags: ["file-a1", "file-b2"],
    });
    for (const order of cdn.orders) assert.equal(order.headers["content-type"], "application/json");
  });

  it("take everything but a clear yes as a no, and never say the token", async () => {
    const rows = [
      { status: 500, body: "{}", location: "" },
      { status: 403, body: '{"success":false}', location: "" },
      { status: 307, body: "", location: `${cdn.url}/elsewhere` },
      { status: 200, body: '{"success":false,"errors":["secret"]}', location: "" },
    ];
    for (const row of rows) {
      Object.assign(cdn.answer, row);
      const error = await create("cloudflare:zone1:secret")
        .purge(files)
        .then(
          () => null,
          (reason: unknown) => reason as Error,
        );
      assert.ok(error instanceof Error, JSON.stringify(row));
      assert.doesNotMatch(`${error.stack} ${error.cause}`, /secret/);
    }
    assert.ok(!cdn.orders.some((order) => order.path === "/elsewhere"), "a token follows no redirect");
    const unreachable = createCdnPurge(
      { driver: "fastly", serviceId: "s", token: "secret" },
      { cloudflare: "", fastly: "http://127.0.0.1:1" },
    );
    await assert.rejects(unreachable.purge(files), (error: Error) => !/secret/.test(error.stack ?? ""));
  });

  it("are configured by one value, which a mistake does not print", () => {
    assert.deepEqual(purgeOf("cloudflare:0123abc:t.o-k_en"), {
      driver: "cloudflare",
      zoneId: "0123abc",
      token: "t.o-k_en",
    });
    assert.equal(purgeOf(""), null);
    const wrong = ["cloudflare:sesame", "fastly::sesame", "akamai:a:sesame", "http://cdn.example/?sesame"];
    for (const value of [...wrong, "https://user:sesame@cdn.example/", "cloudflare:../x:sesame"]) {
      assert.throws(
        () => purgeOf(value),
        (error: Error) => /^UPSTOW_CDN_PURGE must be /.test(error.message) && !/sesame/.test(error.message),
      );
    }
  });

  it("let shared caches keep a file for a year under its tag", () => {
    assert.deepEqual(sharedCacheHeaders({ cdnPurge: null }, "a1", Number.POSITIVE_INFINITY), {});
    assert.deepEqual(
      sharedCacheHeaders({ cdnPurge: purgeOf("cloudflare:z:t") }, "a1", Number.POSITIVE_INFINITY),
      {
        "cdn-cache-control": "max-age=31536000",
        "cache-tag": "file-a1",
      },
    );
    assert.deepEqual(
      sharedCacheHeaders({ cdnPurge: purgeOf("fastly:s:t") }, "a1", Number.POSITIVE_INFINITY),
      {
        "surrogate-control": "max-age=31536000",
        "surrogate-key": "file-a1",
      },
    );
  });
});

onAnyDatabase("a CDN in front", (database) => {
  let cdn: Awaited<ReturnType<typeof startCdn>>;
  let app: TestApp;
  let client: UploadClient;
  before(async () => {
    cdn = await startCdn();
    app = await startApp({ database, env: { UPSTOW_CDN_PURGE: `${cdn.url}/purge?token=sesame` } });
    client = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(async () => {
    await app.close();
    await cdn.close();
  });

  const listDeletions = statement((q, _: object) => q.selectFrom("storage_deletion").select("id"));
  /** Until the CDN has nothing more to hear of what was deleted so far. */
  const settleDeletions = async () => {
    app.clock.advance(2 * 3_600_000);
    await runDeletions(app.app.deps);
    assert.equal((await app.app.deps.db.all(listDeletions, {})).length, 0);
    cdn.orders.length = 0;
  };
  const tagsOrdered = () => cdn.orders.flatMap((order) => order.body.tags as string[]).sort();

  it("may keep files, but no refusal", async () => {
    const file = await client.upload();
    const got = await fetch(file.url);
    await got.text();
    assert.equal(got.headers.get("cdn-cache-control"), "max-age=31536000");
    assert.equal(got.headers.get("cache-tag"), `file-${file.id}`);
    assert.equal(got.headers.get("cache-control"), "public, max-age=0, must-revalidate");
    const refusals: [string, Record<string, string>, number][] = [
      [file.url, { range: "bytes=99-" }, 416],
      [file.url, { "if-match": '"x"' }, 412],
      [`${file.url}x`, {}, 404],
    ];
    for (const [url, headers, status] of refusals) {
      const refused = await fetch(url, { headers });
      await refused.text();
      assert.equal(refused.status, status);
      assert.equal(refused.headers.get("cache-control"), "no-store");
      for (const name of ["cdn-cache-control", "cache-tag"]) assert.equal(refused.headers.get(name), null);
    }
    await client.remove(file.key);
  });

  onlyOnDisk("its folders are put in disorder")("keeps no failure under the tag of a file", async () => {
    const key = (await app.createTenant("pro")).live;
    const file = await uploadFile(app, Buffer.alloc(300_000, 7), { key });
    const blobs = join(app.dataDir, "objects", "blobs");
    for (const shard of await readdir(blobs)) {
      await rm(join(blobs, shard), { recursive: true });
      await writeFile(join(blobs, shard), "");
    }
    const failed = await fetch(file.url);
    await failed.text();
    assert.deepEqual([failed.status, failed.headers.get("cache-control")], [503, "no-store"]);
    for (const name of ["cdn-cache-control", "cache-tag", "etag", "content-disposition"])
      assert.equal(failed.headers.get(name), null, name);
    for (const shard of await readdir(blobs)) await rm(join(blobs, shard));
  });

  it("may keep public variants of one format, none that expires or depends on who asks", async () => {
    const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const file = await client.upload(image, { contentType: "image/png", fileName: "red.png" });
    for (const [options, isKept] of [
      [{ delivery: "public", format: "webp" }, true],
      [{ delivery: "public", format: "auto" }, false],
      [{ delivery: "signed", format: "webp" }, false],
    ] as const) {
      const made = await client.post("transforms/image", { key: file.key, width: 4, ...options });
      assert.equal(made.status, 200, JSON.stringify(made.body));
      const got = await fetch(made.body.url);
      assert.equal(got.status, 200);
      await got.arrayBuffer();
      assert.equal(got.headers.get("cache-tag"), isKept ? `file-${file.id}` : null);
      assert.equal(got.headers.get("cdn-cache-control"), isKept ? "max-age=31536000" : null);
    }
    await client.remove(file.key);
  });

  it("has been told of a deletion when its caller hears of it", async () => {
    cdn.orders.length = 0;
    const [one, two, three] = [await client.upload(), await client.upload(), await client.upload()];
    const open = await client.request();
    await client.remove(one.key);
    assert.deepEqual(
      cdn.orders.map((order) => order.body),
      [{ urls: [one.url], tags: [`file-${one.id}`] }],
    );
    await client.removeAll([two.key, three.key, open.key]);
    assert.equal(cdn.orders.length, 2, "one order for all");
    assert.deepEqual(tagsOrdered(), [one, two, three].map((file) => `file-${file.id}`).sort());
    await client.remove((await client.request()).key);
    assert.equal(cdn.orders.length, 2, "nothing was ever served of an upload that was not confirmed");
  });

  it("forgets a file under its old name, whose bytes stay", async () => {
    await settleDeletions();
    const file = await client.upload();
    await client.patch(file.key, { metadata: { a: 1 } });
    await client.patch((await client.request()).key, { name: "never served" });
    assert.equal(cdn.orders.length, 0);
    await client.patch(file.key, { name: "new.txt" });
    assert.deepEqual(
      cdn.orders.map((order) => order.body),
      [{ urls: [file.url], tags: [`file-${file.id}`] }],
    );
    await settleDeletions();
    assert.equal((await fetch(file.url)).status, 200);
    cdn.answer.status = 503;
    assert.equal((await client.patch(file.key, { name: "newer.txt" })).status, 200);
    cdn.answer.status = 200;
    app.clock.advance(61_000);
    await runDeletions(app.app.deps);
    assert.deepEqual(tagsOrdered(), [`file-${file.id}`, `file-${file.id}`], "asked again after a failure");
    await settleDeletions();
    assert.equal((await fetch(file.url)).status, 200);
  });

  it("is told of both addresses of a file whose project has a domain of its own", async () => {
    cdn.orders.length = 0;
    const tenant = await app.createTenant("pro");
    const setDomain = statement((q, p: { id: string; url: string }) =>
      q.updateTable("project").set({ cdn_url: p.url }).where("id", "=", p.id),
    );
    const own = "https://files.customer.example";
    const theirs = createUploadClient(app, tenant.live);
    const file = await theirs.upload();
    await app.app.deps.db.run(setDomain, { id: tenant.projectId, url: own });
    await theirs.remove(file.key);
    assert.deepEqual(
      cdn.orders.map((order) => order.body.urls),
      [[file.url, own + new URL(file.url).pathname]],
    );
  });

  it("is told twice more, because it may be fetching what is deleted", async () => {
    await settleDeletions();
    const { deps } = app.app;
    const file = await client.upload();
    await client.remove(file.key);
    await deps.store.write(file.key, Buffer.from("again"), { contentType: "text/plain" });
    for (const [pauseMs, orders] of [
      [50_000, 1],
      [20_000, 2],
      [3_500_000, 2],
      [200_000, 3],
      [7_200_000, 3],
    ] as const) {
      app.clock.advance(pauseMs);
      await runDeletions(deps);
      assert.equal(cdn.orders.length, orders);
    }
    assert.deepEqual(new Set(tagsOrdered()), new Set([`file-${file.id}`]));
    assert.ok((await deps.store.head(file.key)) !== null, "bytes are deleted once");
    assert.equal((await deps.db.all(listDeletions, {})).length, 0);
  });

  it("is told again and again until it has heard, and a deletion succeeds all the same", async () => {
    await settleDeletions();
    const file = await client.upload();
    cdn.answer.status = 503;
    assert.equal((await client.remove(file.key)).status, 200);
    assert.equal((await fetch(file.url)).status, 404);
    const { deps } = app.app;
    assert.equal((await deps.db.all(listDeletions, {})).length, 1);
    for (let attempt = 2; attempt <= 4; attempt++) {
      app.clock.advance(60_000);
      await runDeletions(deps);
      assert.equal(cdn.orders.length, attempt);
    }
    cdn.answer.status = 200;
    app.clock.advance(2 * 3_600_000);
    await runDeletions(deps);
    assert.equal((await deps.db.all(listDeletions, {})).length, 0);
    assert.deepEqual(new Set(tagsOrdered()), new Set([`file-${file.id}`]));
    assert.ok(app.logLines.some((line) => line.includes("the CDN did not purge")));
    assert.ok(!app.logLines.some((line) => line.includes("sesame")), "the token is in no log line");
  });
});
