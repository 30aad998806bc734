import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { signGrant, signLink } from "../src/serving/links/tokens.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import {
  createPrivateReader,
  expectBytes,
  expectGone,
  expectOver,
  type PrivateReader,
  read,
} from "./support/private-reader.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();

onBothDatabases("private files", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let reader: PrivateReader;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    reader = createPrivateReader(client);
  });
  after(() => app.close());

  it("take their route's access, which a request can tighten and never loosen", async () => {
    const route = await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug: "secrets", access: "private" },
    });
    assert.equal(route.body.router.access, "private");
    const file = await client.upload(smallBody, { routeSlug: "secrets" });
    assert.equal((file as { access?: string }).access, "private");
    await expectGone(file.url);
    expectInvalid(await client.requestAnswer({ routeSlug: "secrets", access: "public" }), "access");
    expectInvalid(await client.requestAnswer({ access: "hidden" as never }), "access");
    const opened = await app.call("PATCH", `routers/${route.body.router.id}`, {
      key: tenant.live,
      body: { access: "public" },
    });
    assert.equal(opened.body.router.access, "public");
    await expectGone(file.url);
    await expectBytes((await client.upload(smallBody, { routeSlug: "secrets" })).url);
    const tightened = await reader.privately();
    assert.equal((await client.get(tightened.key)).body.file.access, "private");
    assert.equal((await client.list("?limit=1")).body.files[0].access, "private");
  });

  it("are read by links, with headers that let nobody else keep them", async () => {
    const file = await reader.privately({ fileName: "a b.txt" });
    const { body } = await client.post("files/links", { keys: [file.key, file.id], expiresIn: 60 });
    assert.deepEqual(
      body.links.map((link: { key: string; maxUses: null }) => [link.key, link.maxUses]),
      [
        [file.key, null],
        [file.id, null],
      ],
    );
    const [link] = body.links;
    assert.match(link.url, /\/s\/[\w.-]+\/a%20b\.txt$/);
    const { headers } = await expectBytes(link.url);
    assert.equal(headers.get("cache-control"), "private, max-age=0, must-revalidate");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("x-robots-tag"), "noindex");
    assert.equal(headers.get("cdn-cache-control"), null);
    assert.match(headers.get("content-disposition") ?? "", /^inline; filename="a b\.txt"/);
    const etag = headers.get("etag") ?? "";
    assert.equal((await read(link.url, { headers: { "if-none-match": etag } })).status, 304);
    assert.equal((await read(link.url, { headers: { range: "bytes=1-2" } })).status, 206);
    const head = await read(link.url, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(smallBody.length)]);
    const saved = await expectBytes(await reader.linkTo(file.key, { download: true }));
    assert.match(saved.headers.get("content-disposition") ?? "", /^attachment; filename="a b\.txt"/);
    const named = await expectBytes(await reader.linkTo(file.key, { download: "Rechnung ä/1.pdf" }));
    assert.match(
      named.headers.get("content-disposition") ?? "",
      /^attachment; .*filename\*=UTF-8''Rechnung%20%C3%A4_1\.pdf$/,
    );
    await expectBytes(await reader.linkTo((await client.upload()).key));
  });

  it("name the keys that no link can be made for", async () => {
    const file = await reader.privately();
    const open = await client.request({ access: "private" });
    const some = await client.post("files/links", { keys: [file.key, "none", open.fileId] });
    assert.equal(some.status, 207);
    assert.deepEqual(some.body.links.length, 1);
    assert.deepEqual(
      some.body.failures.map((failure: { key: string; code: string }) => [failure.key, failure.code]),
      [
        ["none", "NOT_FOUND"],
        [open.fileId, "NOT_FOUND"],
      ],
    );
    const none = await client.post("files/links", { keys: ["none"] });
    assert.deepEqual([none.status, none.body.error.code, none.body.links], [404, "NOT_FOUND", []]);
    for (const [field, value] of [
      ["expiresIn", 604_801],
      ["expiresIn", 0],
      ["maxUses", 1_001],
      ["maxUses", 0],
      ["keys", []],
    ] as const)
      expectInvalid(await client.post("files/links", { keys: [file.key], [field]: value }), field);
    const foreign = createUploadClient(app, (await app.createTenant("pro")).live);
    assert.equal((await foreign.post("files/links", { keys: [file.key] })).status, 404);
    const test = createUploadClient(app, tenant.test);
    assert.equal((await test.post("files/links", { keys: [file.key] })).status, 404);
  });

  it("end when the link does, to the second", async () => {
    const { key } = await reader.privately();
    const url = await reader.linkTo(key, { expiresIn: 60 });
    // The clock runs on meanwhile, on a busy machine for seconds.
    app.clock.advance(40_000);
    await expectBytes(url);
    app.clock.advance(20_000);
    await expectOver(url, "expired");
  });

  it("say in a browser why a link no longer works", async () => {
    const { key } = await reader.privately();
    const expectHeading = async (url: string, heading: string) => {
      const answer = await read(url, { headers: { accept: "text/html" } });
      assert.equal(answer.status, 403);
      assert.match(answer.bytes.toString(), new RegExp(`<h1>${heading}</h1>`));
    };
    const [once, brief] = [
      await reader.linkTo(key, { maxUses: 1 }),
      await reader.linkTo(key, { expiresIn: 1 }),
    ];
    await expectBytes(once);
    await expectHeading(once, "This link has already been used");
    app.clock.advance(1_000);
    await expectHeading(brief, "This link has expired");
    await reader.revoke({ keys: [key] });
    await expectHeading(once, "This link has been revoked");
  });

  it("do not open to links that were edited or signed by somebody else", async () => {
    const [file, other] = [await reader.privately(), await reader.privately()];
    const url = await reader.linkTo(file.key);
    const edits = [
      url.replace(file.id, other.id),
      url.replace(/\.i\./, ".n."),
      url.replace("hello.txt", "other.txt"),
      url.replace(/.\/hello/, (end) => `${end.startsWith("A") ? "B" : "A"}${end.slice(1)}`),
      url.replace(/.\/hello/, "%C3%A4/hello"),
      url.replace(/\/s\/[^/]+/, "/s/x"),
      url.replace(/\/[^/]+$/, ""),
      url.replace(/\/s\/([^/]+).*/, "/g/$1"),
      url.replace(/\/s\/l1\.\w+/, (start) => `${start}0`),
      `${url.replace(/\/hello\.txt$/, "")}0/hello.txt`,
    ];
    for (const edited of edits) await expectGone(edited);
    const key = createSecretKey(Buffer.from("rdk_wrong"));
    const now = app.clock.now();
    const facts = {
      signedAt: now,
      expiresAt: now + 1000,
      fileId: file.id,
      shown: "inline",
      countedId: null,
    } as const;
    await expectGone(`${app.url}/s/${signLink(key, facts, "a")}/a`);
    const foreign = await app.createTenant("pro");
    const theirs = (await app.call("GET", "files/read-keys", { key: foreign.live })).body.current;
    await expectGone(`${app.url}/s/${signLink(createSecretKey(Buffer.from(theirs)), facts, "a")}/a`);
  });

  it("of a project that has no read keys yet do not open to anything", async () => {
    const { live } = await app.createTenant("pro");
    const file = await createUploadClient(app, live).upload(smallBody, { access: "private" });
    const times = { signedAt: app.clock.now(), expiresAt: app.clock.now() + 1000 };
    const scope = { kind: "route", value: "default" } as const;
    for (const secret of ["rdk_wrong", "null", ""]) {
      const key = createSecretKey(Buffer.from(secret));
      const facts = { ...times, fileId: file.id, shown: "inline", countedId: null } as const;
      await expectGone(`${app.url}/s/${signLink(key, facts, "a")}/a`);
      await expectGone(`${app.url}/g/${signGrant(key, { ...times, scope, subject: "" })}/${file.key}`);
    }
  });

  it("are opened by links that were signed elsewhere, with either key, for a week at most", async () => {
    const file = await reader.privately({ audience: "signed" });
    const keys = (await app.call("GET", "files/read-keys", { key: tenant.live })).body;
    assert.deepEqual(Object.keys(keys), ["current", "next"]);
    const now = app.clock.now();
    const link = (secret: string, lifeMs: number, signedAt = now) => {
      const facts = {
        signedAt,
        expiresAt: signedAt + lifeMs,
        fileId: file.id,
        shown: "inline",
        countedId: null,
      } as const;
      return `${app.url}/s/${signLink(createSecretKey(Buffer.from(secret)), facts, "a")}/a`;
    };
    const week = 604_800_000;
    for (const key of [keys.current, keys.next]) {
      assert.match(key, /^rdk_[\w-]{43}$/);
      await expectBytes(link(key, week));
      await expectGone(link(key, week + 1));
      await expectGone(link(key, 1000, now + 120_000));
    }
    const scope = { kind: "audience", value: "signed" } as const;
    const facts = {
      signedAt: now,
      expiresAt: now + 1e6,
      scope,
      subject: "",
    } as const;
    const token = signGrant(createSecretKey(Buffer.from(keys.current)), facts);
    await expectBytes(`${app.url}/g/${token}/${file.key}`);
    const tooLong = { ...facts, expiresAt: now + 86_400_001 };
    await expectGone(
      `${app.url}/g/${signGrant(createSecretKey(Buffer.from(keys.current)), tooLong)}/${file.key}`,
    );

    const before = link(keys.current, week);
    const made = await reader.linkTo(file.key);
    const rotate = () => app.call("POST", "files/read-keys/rotate", { key: tenant.live });
    const rotated = await rotate();
    assert.equal(rotated.body.current, keys.next);
    await expectGone(before);
    await expectGone(made);
    await expectBytes(link(keys.next, week));
    await expectBytes(await reader.linkTo(file.key));
  });

  it("are covered by grants as they are at the moment of reading", async () => {
    const [one, two] = [
      await reader.privately({ audience: "order:981" }),
      await reader.privately({ fileName: "seg 1.ts" }),
    ];
    const byRoute = await reader.grant({ routeSlug: "default", subject: "ann" });
    await expectBytes(`${byRoute}/${one.key}`);
    await expectBytes(new URL("seg%201.ts", `${byRoute}/${encodeURI(two.key)}`).href);
    const near = { slug: "default-2", access: "private" };
    await app.call("POST", `projects/${tenant.projectId}/routers`, { key: tenant.live, body: near });
    const beside = await client.upload(smallBody, { routeSlug: near.slug });
    await expectGone(`${byRoute}/${beside.key}`);
    const byPrefix = await reader.grant({ prefix: `default/${one.id}/` });
    await expectBytes(`${byPrefix}/${one.key}`);
    await expectGone(`${byPrefix}/${encodeURI(two.key)}`);
    const byAudience = await reader.grant({ audience: "order:981" });
    const { headers } = await expectBytes(`${byAudience}/${one.key}`);
    assert.equal(headers.get("cache-control"), "private, max-age=0, must-revalidate");
    await expectGone(`${byAudience}/${encodeURI(two.key)}`);
    assert.equal((await client.patch(two.key, { audience: "order:981" })).body.file.audience, "order:981");
    await expectBytes(`${byAudience}/${encodeURI(two.key)}`);
    assert.equal("audience" in (await client.patch(two.key, { audience: null })).body.file, false);
    await expectGone(`${byAudience}/${encodeURI(two.key)}`);
    const foreign = createUploadClient(app, (await app.createTenant("pro")).live);
    const { key } = await foreign.upload(smallBody, { access: "private" });
    await expectGone(`${byRoute}/${key}`);
    expectInvalid(await client.post("files/grants", {}), "routeSlug");
    expectInvalid(await client.post("files/grants", { routeSlug: "default", audience: "a" }), "routeSlug");
    expectInvalid(await client.post("files/grants", { routeSlug: "a", expiresIn: 86_401 }), "expiresIn");
    app.clock.advance(3_601_000);
    await expectOver(`${byRoute}/${one.key}`, "expired");
  });

  it("are closed at once by a revocation, and open to what is signed afterwards", async () => {
    const file = await reader.privately({ audience: "team" });
    const other = await reader.privately();
    const [link, otherLink] = [await reader.linkTo(file.key), await reader.linkTo(other.key)];
    const [audience, route] = [
      await reader.grant({ audience: "team" }),
      await reader.grant({ routeSlug: "default" }),
    ];
    await reader.revoke({ keys: [file.id] });
    await expectOver(link, "revoked");
    await expectBytes(otherLink);
    await expectBytes(`${audience}/${file.key}`);
    const second = await reader.linkTo(file.key);
    await expectBytes(second);
    await reader.revoke({ audience: "team" });
    await expectOver(second, "revoked");
    await expectOver(`${audience}/${file.key}`, "revoked");
    await expectBytes(`${route}/${file.key}`);
    const third = await reader.linkTo(file.key);
    const newGrant = await reader.grant({ audience: "team" });
    await expectBytes(third);
    await expectBytes(`${newGrant}/${file.key}`);
    await reader.revoke({ all: true });
    for (const url of [third, otherLink, `${newGrant}/${file.key}`, `${route}/${file.key}`])
      await expectOver(url, "revoked");
    await expectBytes(await reader.linkTo(file.key));
    await expectBytes(`${await reader.grant({ routeSlug: "default" })}/${file.key}`);
    expectInvalid(await client.post("files/links/revoke", {}), "keys");
    expectInvalid(await client.post("files/links/revoke", { audience: "a", all: true }), "keys");
    assert.equal((await client.post("files/links/revoke", { keys: ["none"] })).status, 404);
    assert.equal((await client.post("files/links/revoke", { keys: ["none", file.key] })).status, 207);
    const last = await reader.linkTo(file.key);
    await client.remove(file.key);
    await expectGone(last);
  });

  it("stay closed to what was revoked with their audience, whichever they belong to later", async () => {
    const fields = { audience: "left", contentType: "image/png", fileName: "a.png" };
    const file = await client.upload(picture, { ...fields, access: "private" });
    const shrink = { key: file.key, width: 10, format: "webp", delivery: "signed" };
    const variant = async (): Promise<string> => (await client.post("transforms/image", shrink)).body.url;
    const [link, shown] = [await reader.linkTo(file.key), await variant()];
    const grant = `${await reader.grant({ audience: "left" })}/${file.key}`;
    for (const url of [link, shown, grant]) assert.equal((await read(url)).status, 200);
    await reader.revoke({ audience: "left" });
    for (const audience of [null, "joined", "left", null]) {
      assert.equal((await client.patch(file.key, { audience })).status, 200);
      await expectOver(link, "revoked");
      expectError(await read(shown), 403, "FORBIDDEN");
      if (audience === "left") await expectOver(grant, "revoked");
      else await expectGone(grant);
    }
    await expectBytes(await reader.linkTo(file.key), picture);
    assert.equal((await read(await variant())).status, 200);
  });

  it("change their access for the next read, and keep their links", async () => {
    const file = await client.upload(picture, { contentType: "image/png", fileName: "a.png" });
    const link = await reader.linkTo(file.key);
    const transform = (delivery: string) =>
      client.post("transforms/image", { key: file.key, width: 10, format: "webp", delivery });
    const [open, signed] = [(await transform("public")).body.url, (await transform("signed")).body.url];
    for (const url of [file.url, open, signed]) assert.equal((await read(url)).status, 200);
    const { body } = await client.patch(file.key, { access: "private" });
    assert.equal(body.file.access, "private");
    for (const url of [file.url, open, signed]) await expectGone(url);
    await expectBytes(link, picture);
    expectInvalid(await transform("public"), "delivery");
    const privately = (await transform("signed")).body.url;
    const shown = await read(privately);
    assert.equal(shown.status, 200);
    assert.equal(shown.headers.get("cache-control"), "private, max-age=0, must-revalidate");
    await reader.revoke({ keys: [file.key] });
    expectError(await read(privately), 403, "FORBIDDEN");
    const anew = (await transform("signed")).body.url;
    assert.notEqual(anew, privately);
    assert.equal((await read(anew)).status, 200);
    await client.patch(file.key, { access: "public" });
    for (const url of [file.url, open]) assert.equal((await read(url)).status, 200, url);
    assert.equal((await client.remove(file.key)).status, 200);
    await expectGone(file.url);
  });

  // The last one, because the clock stands still from here on.
  it("end at the very millisecond, by time and by revocation", async () => {
    const { key } = await reader.privately();
    const [link] = (await client.post("files/links", { keys: [key], expiresIn: 60 })).body.links;
    const { grant } = (await client.post("files/grants", { routeSlug: "default", expiresIn: 60 })).body;
    for (const [url, expiresAt] of [
      [link.url, link.expiresAt],
      [`${grant.baseUrl}/${key}`, grant.expiresAt],
    ]) {
      app.clock.setTime(Date.parse(expiresAt) - 1);
      await expectBytes(url);
      app.clock.setTime(Date.parse(expiresAt));
      await expectOver(url, "expired");
    }
    const sameMoment = await reader.linkTo(key);
    await reader.revoke({ keys: [key] });
    await expectOver(sameMoment, "revoked");
    await expectBytes(await reader.linkTo(key));
  });
});
