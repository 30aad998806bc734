import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { verifyDelivery } from "@upstow/sdk/webhooks";
import sharp from "sharp";
import { statement } from "../src/db/statement.ts";
import { createId } from "../src/kernel/ids.ts";
import { describeEvent, insertEvents } from "../src/webhooks/enqueue.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { expectInvalid } from "./support/expect-error.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { until } from "./support/webhooks/until.ts";

const addMember = statement((q, p: { projectId: string; accountId: string; role: "developer" | "viewer" }) =>
  q
    .insertInto("project_member")
    .values({ project_id: p.projectId, account_id: p.accountId, role: p.role, created_at: 0 }),
);
const photo = await sharp({ create: { width: 600, height: 400, channels: 3, background: "#37a" } })
  .jpeg()
  .toBuffer();

onAnyDatabase("files and deliveries in the dashboard", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let inLive: string;

  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function enter(): Promise<void> {
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    inLive = `/in/${tenant.projectId}/live`;
  }
  const find = async (query: Record<string, string>) => {
    const { status, body } = await owner("GET", `${inLive}/search?${new URLSearchParams(query)}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.files.map((file: { name: string }) => file.name);
  };

  test("metadata is found by any text in it, or by a name and its value", async () => {
    await enter();
    const metadata: [name: string, metadata: Record<string, unknown>][] = [
      ["a", { colour: "red", size: 5 }],
      ["b", { colour: "Blue", other: "red", size: 57 }],
      ["c", { tags: ["50%", 'the "best"'], deep: { colour: "red" } }],
    ];
    for (const [name, given] of metadata)
      await uploadFile(app, "x", { key: tenant.live, name, metadata: given });
    assert.deepEqual(await find({ metadata: "RED" }), ["c", "b", "a"]);
    assert.deepEqual(await find({ metadata: "colour=red" }), ["c", "a"]);
    assert.deepEqual(await find({ metadata: "colour = blue" }), ["b"]);
    assert.deepEqual(await find({ metadata: "size=5" }), ["a"]);
    assert.deepEqual(await find({ metadata: "0%" }), ["c"]);
    assert.deepEqual(await find({ metadata: 'the "best' }), ["c"]);
    assert.deepEqual(await find({ metadata: "%" }), ["c"]);
    assert.deepEqual(await find({ metadata: "colour=red", name: "a" }), ["a"]);
    assert.deepEqual(await find({ metadata: "colour=_ed" }), []);
  });

  test("metadata is found by text with an equals sign in it, by the deletion of all that match as well", async () => {
    await enter();
    for (const [name, metadata] of [
      ["link", { from: "https://example.com/?page=2&Sort=new" }],
      ["pair", { page: 2 }],
      ["neither", { page: 25, from: "page 2" }],
    ] as const)
      await uploadFile(app, "x", { key: tenant.live, name, metadata });
    assert.deepEqual(await find({ metadata: "page=2" }), ["pair", "link"]);
    assert.deepEqual(await find({ metadata: "?page=2&sort=NEW" }), ["link"]);
    assert.deepEqual(await find({ metadata: "page=2", name: "pair" }), ["pair"]);
    const counted = (await owner("GET", `${inLive}/search/count?metadata=page%3D2`)).body;
    assert.equal(counted.count, 2);
    const { before } = counted;
    const deleted = await owner("POST", `${inLive}/search/delete`, { metadata: "page=2", before });
    assert.deepEqual(deleted.body, { deleted: 2 });
    assert.deepEqual(await find({}), ["neither"]);
  });

  test("files are found by when they were made, and each term narrows the search", async () => {
    await enter();
    const count = 40;
    await insertManyFiles(app, { projectId: tenant.projectId, count });
    const all = (await owner("GET", `${inLive}/search?limit=100`)).body.files;
    assert.equal(all.length, count);
    const since = all[19].createdAt;
    const until = all[9].createdAt;
    const between = all.slice(10, 20).map((file: { name: string }) => file.name);
    assert.deepEqual(await find({ since, until }), between);
    assert.deepEqual(await find({ since, until, type: "image/", routeSlug: "photos" }), [
      ...between.filter((name: string) => name.endsWith(".jpg")),
    ]);
    const paged = await owner("GET", `${inLive}/search?${new URLSearchParams({ since, until, limit: "6" })}`);
    const rest = { since, until, limit: "6", cursor: paged.body.nextCursor };
    assert.deepEqual(await find(rest), between.slice(6));
    const wrong = await owner("GET", `${inLive}/search?since=${until}&until=${since}`);
    assert.equal(wrong.status, 400);
    assert.equal((await owner("GET", `${inLive}/search?since=yesterday`)).status, 400);
  });

  test("folders say how many files each route has and how large they are, deleted and test files aside", async () => {
    await enter();
    const folders = async (path = inLive) => {
      const { status, body } = await owner("GET", `${path}/folders`);
      assert.equal(status, 200, JSON.stringify(body));
      const bySlug = body.folders.toSorted((a: { slug: string }, b: { slug: string }) =>
        a.slug < b.slug ? -1 : 1,
      );
      return { ...body, folders: bySlug };
    };
    assert.deepEqual(await folders(), { folders: [], isWhole: true });
    await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug: "avatars" },
    });
    for (const routeSlug of ["avatars", "avatars", "default"])
      await uploadFile(app, "hello", { key: tenant.live, name: "a.txt", routeSlug });
    const { key } = await uploadFile(app, "gone", { key: tenant.live, name: "b.txt" });
    await app.call("DELETE", `files/${encodeURIComponent(key)}`, { key: tenant.live });
    await uploadFile(app, "trial", { key: tenant.test, name: "c.txt" });
    const waiting = { fileName: "d.txt", contentType: "text/plain", fileSize: 7, routeSlug: "default" };
    const asked = await app.call("POST", "upload/request", { key: tenant.live, body: waiting });
    assert.equal(asked.status, 200, JSON.stringify(asked.body));
    assert.deepEqual(await folders(), {
      folders: [
        { slug: "avatars", files: 2, bytes: 10 },
        { slug: "default", files: 2, bytes: 5 },
      ],
      isWhole: true,
    });
    assert.deepEqual((await folders(`/in/${tenant.projectId}/test`)).folders, [
      { slug: "default", files: 1, bytes: 5 },
    ]);
  });

  test("folders of very many files are counted as far as one visit may read, and say so", async () => {
    await enter();
    await insertManyFiles(app, { projectId: tenant.projectId, count: 21_000 });
    const { body } = await owner("GET", `${inLive}/folders`);
    const counted = body.folders.reduce((sum: number, { files }: { files: number }) => sum + files, 0);
    assert.ok(counted >= 20_000 && counted < 21_000, `${counted} counted`);
    assert.equal(body.isWhole, false);
  });

  test("all that match a search are counted and deleted, and nothing that came later or is of others", async () => {
    await enter();
    await insertManyFiles(app, { projectId: tenant.projectId, count: 450 });
    const other = await app.createTenant("pro");
    await insertManyFiles(app, { projectId: other.projectId, count: 4 });
    const stranger = await signInAs(app, other.accountId);
    const count = async (query: string) => (await owner("GET", `${inLive}/search/count${query}`)).body;
    assert.equal((await count("")).count, 450);
    assert.equal((await count("?type=image/&name=upload-0002")).count, 25);
    const counted = await count("?type=image/");
    assert.equal(counted.count, 113);
    const id = createId(app.clock.now() + 60_000);
    const describe = () => ({ id, key: `${tenant.projectId}/default/${id}/late.jpg`, name: "late.jpg" });
    await insertManyFiles(app, { projectId: tenant.projectId, count: 1, describe });
    const deleted = await owner("POST", `${inLive}/search/delete`, {
      type: "image/",
      before: counted.before,
    });
    assert.deepEqual([deleted.status, deleted.body], [200, { deleted: 113 }]);
    assert.deepEqual(await find({ type: "image/" }), ["late.jpg"]);
    assert.equal((await count("")).count, 337);
    assert.equal((await stranger("GET", `/in/${other.projectId}/live/search`)).body.files.length, 4);
    const rest = await owner("POST", `${inLive}/search/delete`, { before: counted.before });
    assert.deepEqual(rest.body, { deleted: 337 });
    for (const body of [{}, { before: "yesterday" }, { before: counted.before, status: "NONE" }])
      assert.equal((await owner("POST", `${inLive}/search/delete`, body)).status, 400);
  });

  test("a leap second, which is no bound, neither finds nor deletes everything", async () => {
    await enter();
    await insertManyFiles(app, { projectId: tenant.projectId, count: 3 });
    const { before } = (await owner("GET", `${inLive}/search/count`)).body;
    const leap = "2016-12-31T23:59:60Z";
    for (const bound of ["since", "until"]) {
      expectInvalid(await owner("GET", `${inLive}/search?${bound}=${leap}`), bound);
      expectInvalid(await owner("GET", `${inLive}/search/count?${bound}=${leap}`), bound);
      expectInvalid(await owner("POST", `${inLive}/search/delete`, { before, [bound]: leap }), bound);
    }
    expectInvalid(await owner("GET", `${inLive}/logs/search?text=x&since=${leap}`), "since");
    assert.equal((await find({})).length, 3);
  });

  test("a choice of files is deleted by their ids, those of others are left alone", async () => {
    await enter();
    await insertManyFiles(app, { projectId: tenant.projectId, count: 250 });
    const other = await app.createTenant("pro");
    await insertManyFiles(app, { projectId: other.projectId, count: 1 });
    const stranger = await signInAs(app, other.accountId);
    const foreign = (await stranger("GET", `/in/${other.projectId}/live/search`)).body.files[0];
    const ids: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await owner("GET", `${inLive}/search?limit=100${cursor}`);
      ids.push(...body.files.map((file: { id: string }) => file.id));
      if (!body.hasMore) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    const [kept, ...chosen] = ids;
    const answer = await owner("POST", `${inLive}/files/delete`, { ids: [...chosen, foreign.id, chosen[0]] });
    assert.deepEqual([answer.status, answer.body], [200, { deleted: 249 }]);
    const left = (await owner("GET", `${inLive}/search`)).body.files;
    assert.deepEqual(
      left.map((file: { id: string }) => file.id),
      [kept],
    );
    assert.equal((await stranger("GET", `/in/${other.projectId}/live/search`)).body.files.length, 1);
    const tooMany = Array.from({ length: 2001 }, () => kept);
    assert.equal((await owner("POST", `${inLive}/files/delete`, { ids: tooMany })).status, 400);
  });

  test("an upload through the dashboard is an upload, without a key", async () => {
    await enter();
    const asked = { fileName: "a.txt", fileSize: 5, contentType: "text/plain", routeSlug: "default" };
    const requested = await owner("POST", `${inLive}/upload/request`, asked);
    const put = { method: "PUT", headers: { "content-type": "text/plain" }, body: "hello" };
    assert.equal((await fetch(requested.body.uploadUrl, put)).status, 200);
    const { fileId } = requested.body;
    const completed = await owner("POST", `${inLive}/upload/complete`, { fileId });
    assert.equal(completed.body.file.status, "UPLOADED");
    assert.equal((await app.call("GET", "usage", { key: tenant.live })).body.usage.uploads, 1);
    assert.equal((await app.call("GET", "usage", { key: tenant.test })).body.usage.uploads, 0);
  });

  test("only images that can be rendered have a thumbnail", async () => {
    await enter();
    const { projectId, live: key } = tenant;
    for (const [name, type, bytes] of [
      ["a.svg", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"],
      ["page.png", "image/png", "<!doctype html>"],
      ["cut.jpg", "image/jpeg", photo.subarray(0, 60)],
    ] as const)
      await uploadFile(app, bytes, { key, name, type });
    const image = JSON.stringify({ width: 5_000, height: 4_000, frames: 3 });
    const long = { name: "film.gif", type: "image/gif", image };
    await insertManyFiles(app, { projectId, count: 1, describe: () => long });
    const files = await until(async () => {
      const { body } = await owner("GET", `${inLive}/search`);
      const isDue = body.files.some((file: { isThumbnailDue: boolean }) => file.isThumbnailDue);
      return isDue ? null : body.files;
    });
    assert.equal(files.length, 4);
    for (const { name, thumbnailUrl } of files) assert.equal(thumbnailUrl, null, name);
    // From before images were read.
    await insertManyFiles(app, {
      projectId,
      count: 1,
      describe: () => ({ name: "a.gif", type: "image/gif", store: app.app.deps.store.name }),
    });
    const { body } = await owner("GET", `${inLive}/search?name=a.gif`);
    assert.match(body.files[0].thumbnailUrl, /a\.gif/);
  });

  test("images have a thumbnail and can be tried out, which costs nothing; a URL costs a unit", async () => {
    await enter();
    const file = await uploadFile(app, photo, { key: tenant.live, name: "a.jpg", type: "image/jpeg" });
    const found = await until(async () => {
      const [image] = (await owner("GET", `${inLive}/search`)).body.files;
      assert.equal(image.isThumbnailDue, image.thumbnailUrl === null);
      return image.thumbnailUrl === null ? null : image;
    });
    const small = await fetch(found.thumbnailUrl);
    const { width, height } = await sharp(await small.arrayBuffer()).metadata();
    assert.deepEqual([small.status, width, height], [200, 320, 320]);

    const settings = { width: "100", fit: "scale-down", quality: "80", key: file.key };
    const tried = await owner(
      "GET",
      `${inLive}/studio?${new URLSearchParams({ ...settings, format: "avif" })}`,
    );
    assert.equal(tried.status, 200);
    assert.equal(tried.headers.get("content-type"), "image/avif");
    assert.equal(tried.headers.get("access-control-allow-origin"), null);
    assert.equal((await owner("GET", `${inLive}/usage`)).body.usage.transformUnits, 0);
    const body = { key: file.key, width: 100, format: "webp" };
    const made = await owner("POST", `${inLive}/transforms/image`, body);
    assert.equal(made.body.usage.used, 1);

    const { variants } = (await owner("GET", `${inLive}/variants?key=${encodeURIComponent(file.key)}`)).body;
    const recipe = { width: 100, fit: "scale-down", quality: 80, format: "avif" };
    assert.ok(variants.some((variant: { recipe: object }) => isDeepStrictEqual(variant.recipe, recipe)));
    for (const change of [{ format: "gif" }, { quality: "0" }, { width: "5000" }]) {
      const query = new URLSearchParams({ ...settings, format: "webp", ...change });
      assert.equal((await owner("GET", `${inLive}/studio?${query}`)).status, 400);
    }
    const inTest = `/in/${tenant.projectId}/test`;
    const sandbox = await owner(
      "GET",
      `${inTest}/studio?${new URLSearchParams({ ...settings, format: "webp" })}`,
    );
    assert.equal(sandbox.body.error.code, "IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY");
  });

  test("a delivery is signed again, so that its receiver takes it from a shell", async () => {
    await enter();
    const id = await addDelivery();
    const { status, body } = await owner("POST", `${inLive}/webhooks/deliveries/${id}/sign`);
    assert.equal(status, 200, JSON.stringify(body));
    const keys = (await owner("GET", `${inLive}/webhooks/signing-keys`)).body;
    const verified = await verifyDelivery({ ...body, currentKey: keys.current, nextKey: keys.next });
    assert.equal(verified.messageId, body.headers["webhook-id"]);
    assert.equal(JSON.parse(body.body).file.name, "a.txt");
  });

  async function addDelivery(): Promise<string> {
    const { db, now } = app.app.deps;
    const { projectId } = tenant;
    const url = "https://example.com/hook";
    const file = { id: "f", key: "k", name: "a.txt", size: 1, type: "text/plain", url, metadata: {} };
    const event = describeEvent(now(), projectId, "live", { file, projectId });
    const message = {
      route_slug: "default",
      url,
      endpoint_id: null,
      state: "dead",
      retries_allowed: 0,
    } as const;
    await db.transact((tx) => insertEvents(tx, [{ ...event, event: "upload.completed", ...message }]));
    return event.id;
  }

  test("strangers and viewers change nothing", async () => {
    await enter();
    const id = "0".repeat(26);
    const changes: [method: string, path: string, body?: unknown][] = [
      ["POST", `${inLive}/files/delete`, { ids: [id] }],
      ["POST", `${inLive}/webhooks/deliveries/${id}/sign`],
      ["POST", `${inLive}/transforms/image`, { key: "k", width: 1 }],
      ["POST", `${inLive}/upload/request`, {}],
      ["POST", `${inLive}/upload/complete`, { fileId: id }],
      ["POST", `${inLive}/upload/multipart/init`, {}],
      ["POST", `${inLive}/upload/multipart/sign`, {}],
      ["POST", `${inLive}/upload/multipart/complete`, {}],
      ["POST", `${inLive}/upload/multipart/abort`, {}],
    ];
    const reads: typeof changes = [
      ["GET", `${inLive}/variants?key=k`],
      ["GET", `${inLive}/studio?key=k&width=1&fit=cover&quality=1&format=webp`],
      ["GET", `${inLive}/upload/multipart/${id}?uploadId=x`],
    ];
    const { accountId } = await app.createTenant("free");
    const stranger = await signInAs(app, accountId);
    for (const [method, path, body] of [...changes, ...reads]) {
      const refused = await stranger(method, path, body);
      assert.equal(refused.body.error.message, "Project not found.", `${method} ${path}`);
    }
    await app.app.deps.db.run(addMember, { projectId: tenant.projectId, accountId, role: "viewer" });
    for (const [method, path, body] of changes)
      assert.equal((await stranger(method, path, body)).status, 403, path);
    for (const [method, path] of reads) assert.equal((await stranger(method, path)).status, 404, path);
  });
});
