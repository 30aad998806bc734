import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { putMember } from "../src/dashboard/members/queries.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const photo = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();

onAnyDatabase("private files in the dashboard", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let owner: ConsoleCall;
  let viewer: ConsoleCall;
  let inLive: string;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    owner = await signInAs(app, tenant.accountId);
    const { accountId } = await app.createTenant("free");
    const { projectId } = tenant;
    await app.app.deps.db.run(putMember, { projectId, accountId, role: "viewer", now: 0 });
    viewer = await signInAs(app, accountId);
    inLive = `/in/${projectId}/live`;
  });
  after(() => app.close());

  const upload = (fields = {}, bytes = smallBody) =>
    createUploadClient(app, tenant.live).upload(bytes, { access: "private", ...fields });
  const at = (path: string, key: string) => `${inLive}/${path}?key=${encodeURIComponent(key)}`;
  const openFile = async (call: ConsoleCall, key: string) => {
    const { status, body } = await call("GET", at("search/file", key));
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const listLinks = async (call: ConsoleCall, key: string) => {
    const { status, body } = await call("GET", at("files/links", key));
    assert.equal(status, 200, JSON.stringify(body));
    return body.links.map((link: { usesLeft: number; maxUses: number }) => [link.usesLeft, link.maxUses]);
  };
  const createLink = async (key: string, options: object) => {
    const { status, body } = await owner("POST", `${inLive}/files/links`, { keys: [key], ...options });
    assert.equal(status, 200, JSON.stringify(body));
    return body.links[0].url as string;
  };
  const statusOf = async (url: string) => (await fetch(url)).status;

  test("lists hold no link; who opens a private file gets one, viewers too", async () => {
    const file = await upload();
    const listed = await owner("GET", `${inLive}/search?name=hello.txt`);
    const [found] = listed.body.files;
    assert.deepEqual([found.access, found.contentUrl], ["private", null]);
    assert.ok(!JSON.stringify(listed.body).includes("/s/"));
    for (const call of [owner, viewer]) {
      const opened = await openFile(call, file.key);
      assert.deepEqual([opened.file.key, opened.file.contentUrl], [file.key, null]);
      assert.equal(await (await fetch(opened.link)).text(), smallBody.toString());
    }
    const open = await upload({ access: "public" });
    const { link, file: shown } = await openFile(viewer, open.key);
    assert.deepEqual([link, shown.contentUrl], [null, open.url]);
  });

  test("an unfinished private file has no link", async () => {
    const requested = await createUploadClient(app, tenant.live).request({ access: "private" });
    const { link, file } = await openFile(owner, requested.key);
    assert.deepEqual([link, file.status], [null, "UPLOADING"]);
  });

  test("a thumbnail and a link that were shown end with all links, and new ones are shown", async () => {
    const file = await upload({ contentType: "image/png", fileName: "a.png", fileSize: photo.length }, photo);
    const before = await until(async () => {
      const opened = await openFile(viewer, file.key);
      return opened.file.thumbnailUrl === null ? null : opened;
    });
    for (const url of [before.link, before.file.thumbnailUrl]) assert.equal(await statusOf(url), 200);
    const revoked = await owner("POST", `${inLive}/files/links/revoke`, { keys: [file.key] });
    assert.deepEqual(revoked.body, { revoked: 1, failures: [] });
    assert.equal(await statusOf(before.link), 403);
    assert.notEqual(await statusOf(before.file.thumbnailUrl), 200);
    const after = await openFile(viewer, file.key);
    for (const url of [after.link, after.file.thumbnailUrl]) assert.equal(await statusOf(url), 200);
  });

  test("links with limited uses are listed with the uses left until they expire or are revoked", async () => {
    const { key } = await upload({ audience: "order:1" });
    const other = await upload();
    await createLink(other.key, { maxUses: 9 });
    assert.deepEqual(await listLinks(owner, key), []);
    const link = await createLink(key, { maxUses: 3, expiresIn: 600 });
    await createLink(key, {});
    assert.equal(await statusOf(link), 200);
    assert.deepEqual(await listLinks(viewer, key), [[2, 3]]);
    const once = await createLink(key, { maxUses: 1 });
    assert.equal(await statusOf(once), 200);
    assert.equal(await statusOf(once), 403);
    assert.deepEqual(await listLinks(viewer, key), [
      [0, 1],
      [2, 3],
    ]);
    const raw = JSON.stringify((await viewer("GET", at("files/links", key))).body);
    assert.ok(!raw.includes("/s/"), "no link that could be used");
    app.clock.advance(601_000);
    assert.deepEqual(await listLinks(owner, key), [[0, 1]]);
    for (const what of [{ keys: [key] }, { audience: "order:1" }, { all: true }]) {
      await createLink(key, { maxUses: 5 });
      assert.deepEqual((await listLinks(owner, key))[0], [5, 5]);
      assert.equal((await owner("POST", `${inLive}/files/links/revoke`, what)).status, 200);
      assert.deepEqual(await listLinks(owner, key), [], JSON.stringify(what));
    }
    assert.deepEqual(await listLinks(owner, other.key), []);
  });

  test("links are listed page by page, the newest first", async () => {
    const { key } = await upload();
    for (const maxUses of [1, 2, 3]) await createLink(key, { maxUses });
    const page = async (more: string) => {
      const { links, nextCursor } = (await viewer("GET", `${at("files/links", key)}&limit=2${more}`)).body;
      return { uses: links.map((link: { maxUses: number }) => link.maxUses), nextCursor };
    };
    const first = await page("");
    assert.deepEqual(first.uses, [3, 2]);
    assert.deepEqual(await page(`&cursor=${first.nextCursor}`), { uses: [1], nextCursor: null });
  });

  test("a link created after a revocation is listed, even if the clock has gone back", async (t) => {
    const { key } = await upload();
    await createLink(key, { maxUses: 1 });
    await owner("POST", `${inLive}/files/links/revoke`, { keys: [key] });
    app.clock.advance(-1000);
    t.after(() => app.clock.advance(1000));
    const link = await createLink(key, { maxUses: 2 });
    assert.equal(await statusOf(link), 200);
    assert.deepEqual(await listLinks(owner, key), [[1, 2]]);
  });

  test("links of a public file are listed and revoked, too", async () => {
    const { key, url } = await upload({ access: "public" });
    await createLink(key, { maxUses: 2 });
    assert.deepEqual(await listLinks(owner, key), [[2, 2]]);
    await owner("POST", `${inLive}/files/links/revoke`, { keys: [key] });
    assert.deepEqual(await listLinks(owner, key), []);
    assert.equal(await statusOf(url), 200);
  });

  test("a viewer changes no access, creates no link and ends none", async () => {
    const { key } = await upload();
    const link = await createLink(key, {});
    const changes: [method: string, path: string, body: object][] = [
      ["PATCH", `${inLive}/files/${encodeURIComponent(key)}`, { access: "public" }],
      ["POST", `${inLive}/files/links`, { keys: [key] }],
      ["POST", `${inLive}/files/links/revoke`, { keys: [key] }],
    ];
    for (const [method, path, body] of changes)
      expectError(await viewer(method, path, body), 403, "FORBIDDEN");
    assert.equal((await openFile(owner, key)).file.access, "private");
    assert.equal(await statusOf(link), 200);
  });

  test("files of other projects and environments are not found", async () => {
    const { key } = await upload();
    const other = await app.createTenant("pro");
    const stranger = await signInAs(app, other.accountId);
    for (const path of ["search/file", "files/links"]) {
      const elsewhere = at(path, key).replace(tenant.projectId, other.projectId);
      expectError(await stranger("GET", elsewhere), 404, "NOT_FOUND");
      expectError(await owner("GET", at(path, key).replace("/live/", "/test/")), 404, "NOT_FOUND");
    }
  });
});
