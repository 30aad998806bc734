import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { RATE_LIMITS } from "@upstow/contract";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { octets, startUnfinishedPatch } from "./support/tus/unfinished-patch.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

type Headers = Record<string, string>;
const base64 = (text: string) => Buffer.from(text).toString("base64");

onAnyDatabase("tus", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
  });
  after(() => app.close());

  function send(method: string, path: string, headers: Headers = {}, body?: Uint8Array): Promise<Response> {
    return fetch(new URL(path, app.url), {
      method,
      headers: { "tus-resumable": "1.0.0", ...headers },
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    });
  }
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const named = `filename ${base64("naïve.txt")},filetype ${base64("text/plain")},note ${base64("kept")},flag`;
  const create = (headers: Headers, body?: Uint8Array, url = "/tus") =>
    send("POST", url, { ...bearer(tenant.live), "upload-metadata": named, ...headers }, body);
  async function open(headers: Headers): Promise<string> {
    const response = await create(headers);
    assert.equal(response.status, 201, await response.text());
    return response.headers.get("location") ?? "";
  }
  const patch = (url: string, offset: number, bytes: Uint8Array, headers: Headers = {}) =>
    send("PATCH", url, { "content-type": octets, "upload-offset": String(offset), ...headers }, bytes);
  const head = (url: string) => send("HEAD", url);
  const offsetOf = async (url: string) => Number((await head(url)).headers.get("upload-offset"));
  async function stored(response: Response, bytes: Uint8Array) {
    const id = response.headers.get("upstow-file-id") ?? "";
    const { body } = await client.get(id);
    assert.equal(body.file.status, "UPLOADED");
    assert.equal(body.file.size, bytes.length);
    assert.equal(encodeURIComponent(body.file.key), response.headers.get("upstow-file-key"));
    assert.equal(body.file.url, response.headers.get("upstow-file-url"));
    assert.deepEqual(Buffer.from(await (await fetch(body.file.url)).arrayBuffer()), Buffer.from(bytes));
    return body.file;
  }
  const startPatch = (path: string, length: number, first: Uint8Array) =>
    startUnfinishedPatch(new URL(path, app.url), length, first);
  async function untilOffset(url: string, least: number) {
    for (let tries = 0; tries < 3_000; tries++) {
      if ((await offsetOf(url)) >= least) return;
      await wait(20);
    }
    assert.fail(`the offset did not reach ${least}`);
  }

  it("describes its features without a key", async () => {
    const response = await fetch(new URL("/tus", app.url), { method: "OPTIONS" });
    assert.equal(response.status, 204);
    assert.equal(response.headers.get("tus-version"), "1.0.0");
    const all = "creation,creation-with-upload,creation-defer-length,termination,expiration,checksum";
    assert.equal(response.headers.get("tus-extension"), onDisk ? `${all},concatenation` : all);
    assert.equal(response.headers.get("tus-checksum-algorithm"), "sha1,sha256,md5,crc32");
    const preflight = await fetch(new URL("/tus/x", app.url), {
      method: "OPTIONS",
      headers: {
        origin: "https://page.example",
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "tus-resumable,upload-offset",
      },
    });
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /PATCH/);
    assert.equal(preflight.headers.get("access-control-allow-headers"), "tus-resumable,upload-offset");
  });

  it("accepts a file in two appends, as one upload with one event", async () => {
    const bytes = randomBytes(300_000);
    const before = await client.usage();
    const url = await open({ "upload-length": String(bytes.length) });
    assert.match(url, /^\/tus\/[\w-]+$/);
    const first = await patch(url, 0, bytes.subarray(0, 100_000));
    assert.equal(first.status, 204);
    assert.equal(first.headers.get("upload-offset"), "100000");
    assert.ok(Date.parse(first.headers.get("upload-expires") ?? "") > app.clock.now());
    const state = await head(url);
    assert.equal(state.headers.get("upload-offset"), "100000");
    assert.equal(state.headers.get("upload-length"), "300000");
    assert.equal(state.headers.get("upload-metadata"), named);
    assert.equal(state.headers.get("cache-control"), "no-store");
    const last = await patch(url, 100_000, bytes.subarray(100_000));
    assert.equal(last.status, 204);
    const file = await stored(last, bytes);
    assert.deepEqual(
      [file.name, file.type, file.metadata],
      ["naïve.txt", "text/plain", { note: "kept", flag: "" }],
    );
    const again = await patch(url, bytes.length, new Uint8Array());
    assert.equal(again.status, 204);
    assert.equal(again.headers.get("upstow-file-id"), file.id);
    assert.equal(await offsetOf(url), bytes.length);
    assert.equal((await send("DELETE", url)).status, 403);
    assert.equal((await client.usage()).uploads - before.uploads, 1);
    const { body } = await app.call("GET", "logs?type=upload.completed", { key: tenant.live });
    assert.equal(body.logs.filter((entry: { fileId: string }) => entry.fileId === file.id).length, 1);
  });

  it("accepts a file with its creation, an empty one, and one whose length comes last", async () => {
    const bytes = randomBytes(5000);
    const whole = await create({ "upload-length": "5000", "content-type": octets }, bytes);
    assert.equal(whole.status, 201);
    assert.equal(whole.headers.get("upload-offset"), "5000");
    const { sha256 } = await stored(whole, bytes);
    if (onDisk) assert.equal(sha256, createHash("sha256").update(bytes).digest("hex"));

    const empty = await create({ "upload-length": "0" });
    assert.equal(empty.status, 201);
    await stored(empty, new Uint8Array());

    const before = (await app.call("GET", "usage", { key: tenant.live })).body.usage;
    const url = await open({ "upload-defer-length": "1" });
    assert.equal((await head(url)).headers.get("upload-defer-length"), "1");
    assert.equal((await patch(url, 0, bytes.subarray(0, 3000))).status, 204);
    const done = await patch(url, 3000, bytes.subarray(3000), { "upload-length": "5000" });
    assert.equal(done.status, 204);
    await stored(done, bytes);
    const { usage } = (await app.call("GET", "usage", { key: tenant.live })).body;
    assert.equal(usage.reservedBytes, before.reservedBytes);
    assert.equal(usage.storageBytes - before.storageBytes, 5000);
  });

  it("keeps the received part of an interrupted body, and continues after it", async () => {
    const bytes = randomBytes(400_000);
    const url = await open({ "upload-length": String(bytes.length) });
    const broken = startPatch(url, bytes.length, bytes.subarray(0, 300_000));
    await broken.arrived();
    broken.request.destroy();
    await untilOffset(url, 1);
    const offset = await offsetOf(url);
    assert.ok(offset <= 300_000);
    const done = await patch(url, offset, bytes.subarray(offset));
    assert.equal(done.status, 204);
    await stored(done, bytes);
  });

  it("lets a new request replace one that hangs", async () => {
    const bytes = randomBytes(400_000);
    const url = await open({ "upload-length": String(bytes.length) });
    const hanging = startPatch(url, bytes.length, bytes.subarray(0, 300_000));
    await hanging.arrived();
    const offset = await offsetOf(url);
    assert.ok(offset > 0 && offset <= 300_000);
    assert.notEqual(await hanging.ended, 204);
    const done = await patch(url, offset, bytes.subarray(offset));
    assert.equal(done.status, 204, await done.text());
    await stored(done, bytes);
  });

  it("accepts one of two appends at the same offset", async () => {
    for (let round = 0; round < 5; round++) {
      const bytes = [randomBytes(100_000), randomBytes(100_000)];
      const url = await open({ "upload-length": "100000" });
      const answers = await Promise.all(bytes.map((body) => patch(url, 0, body).catch(() => null)));
      const winners = answers.filter((answer) => answer?.ok);
      assert.equal(winners.length, 1);
      for (const answer of answers) assert.ok(answer === null || answer.ok || answer.status === 409);
      const winner = winners[0] as Response;
      await stored(winner, bytes[answers.indexOf(winner)] as Buffer);
    }
  });

  it("compares checksums and discards bytes that do not match", async () => {
    const bytes = randomBytes(50_000);
    const big = Buffer.alloc(4);
    big.writeUInt32BE(crc32(bytes));
    const sums: [string, Buffer][] = [
      ...["sha1", "sha256", "md5"].map((name): [string, Buffer] => [
        name,
        createHash(name).update(bytes).digest(),
      ]),
      ["crc32", big],
    ];
    for (const [name, sum] of sums) {
      const url = await open({ "upload-length": "50000" });
      const wrong = await patch(url, 0, bytes, {
        "upload-checksum": `${name} ${Buffer.from(sum.map((byte) => byte ^ 1)).toString("base64")}`,
      });
      assert.equal(wrong.status, 460, name);
      assert.equal(await offsetOf(url), 0);
      const right = await patch(url, 0, bytes, { "upload-checksum": `${name} ${sum.toString("base64")}` });
      assert.equal(right.status, 204, name);
      await stored(right, bytes);
    }
    const url = await open({ "upload-length": "5" });
    assert.equal(
      (await patch(url, 0, bytes.subarray(0, 5), { "upload-checksum": "sha512 AAAA" })).status,
      400,
    );
  });

  it("rejects what the protocol rejects", async () => {
    const url = await open({ "upload-length": "10" });
    const cases: [number, Promise<Response>][] = [
      [412, fetch(new URL(url, app.url), { method: "HEAD" })],
      [412, send("POST", "/tus", { "tus-resumable": "0.2.2" })],
      [401, send("POST", "/tus", { "upload-length": "1" })],
      [400, create({})],
      [400, create({ "upload-length": "-1" })],
      [400, create({ "upload-defer-length": "2" })],
      [400, create({ "upload-defer-length": "1", "upload-length": "3" })],
      [400, create({ "upload-length": "3", "upload-metadata": "a YQ==,a YQ==" })],
      [413, create({ "upload-length": "600000000" })],
      [404, create({ "upload-length": "3", "upload-metadata": `route ${base64("none")}` })],
      [409, patch(url, 3, new Uint8Array(2))],
      [415, patch(url, 0, new Uint8Array(2), { "content-type": "text/plain" })],
      [413, patch(url, 0, new Uint8Array(11))],
      [404, head("/tus/unknown")],
      [404, head(`${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}`)],
    ];
    for (const [i, [status, response]] of cases.entries())
      assert.equal((await response).status, status, `case ${i}`);
    assert.equal(await offsetOf(url), 0);
    const route = { slug: "images-only", allowedTypes: ["image/*"] };
    assert.equal((await client.post(`projects/${tenant.projectId}/routers`, route)).status, 201);
    const type = await create({
      "upload-length": "3",
      "upload-metadata": `route ${base64("images-only")},filetype ${base64("text/plain")}`,
    });
    assert.equal(type.status, 400);
    assert.equal(((await type.json()) as { error: { code: string } }).error.code, "INVALID_FILE_TYPE");
    const overridden = await send(
      "POST",
      url,
      { "x-http-method-override": "PATCH", "content-type": octets, "upload-offset": "0" },
      new Uint8Array(10),
    );
    assert.equal(overridden.status, 204);
  });

  it("says why a length is rejected that is below what has arrived, or another one than before", async () => {
    const url = await open({ "upload-defer-length": "1" });
    assert.equal((await patch(url, 0, new Uint8Array(10))).status, 204);
    const sayLength = async (length: number) => {
      const response = await send("PATCH", url, {
        "content-type": octets,
        "upload-offset": "10",
        "upload-length": String(length),
      });
      if (response.ok) return "";
      assert.equal(response.status, 400);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    assert.equal(await sayLength(9), "The length 9 is below the 10 bytes that this upload has received.");
    assert.equal(await sayLength(20), "");
    assert.equal(await sayLength(21), "The length does not match this upload's length.");
    assert.equal((await send("DELETE", url)).status, 204);
  });

  it("ends an upload by its client, its expiry or its key, and releases the quota", async () => {
    const before = (await app.call("GET", "usage", { key: tenant.live })).body.usage;
    const url = await open({ "upload-length": "1000" });
    assert.equal((await patch(url, 0, new Uint8Array(10))).status, 204);
    assert.equal((await send("DELETE", url)).status, 204);
    assert.equal((await head(url)).status, 404);
    assert.equal((await patch(url, 10, new Uint8Array(10))).status, 404);

    const made = await client.post(`projects/${tenant.projectId}/keys`, { name: "short" });
    const ofKey = await open({ "upload-length": "1000", ...bearer(made.body.secret) });
    assert.equal((await app.call("DELETE", `keys/${made.body.key.id}`, { key: tenant.live })).status, 200);
    assert.equal((await patch(ofKey, 0, new Uint8Array(10))).status, 401);

    const late = await open({ "upload-length": "1000" });
    assert.equal((await patch(late, 0, new Uint8Array(10))).status, 204);
    app.clock.advance(23 * 3_600_000);
    await reapAbandonedUploads(app.app.deps);
    assert.equal(await offsetOf(late), 10);
    app.clock.advance(2 * 3_600_000);
    await reapAbandonedUploads(app.app.deps);
    assert.equal((await head(late)).status, 404);
    const { usage } = (await app.call("GET", "usage", { key: tenant.live })).body;
    assert.ok(usage.reservedBytes <= before.reservedBytes);
  });

  it("works under a grant, within its limits", async () => {
    const { body } = await client.post("upload/grants", {
      routeSlug: "default",
      maxFileSize: 100,
      metadata: { note: "fixed" },
    });
    const grant = bearer(body.grant.token);
    assert.equal((await create({ ...grant, "upload-length": "101" })).status, 413);
    const done = await create(
      { ...grant, "upload-length": "5", "content-type": octets },
      Buffer.from("bytes"),
    );
    assert.equal(done.status, 201);
    assert.deepEqual((await stored(done, Buffer.from("bytes"))).metadata, { note: "fixed", flag: "" });
    assert.equal((await send("DELETE", done.headers.get("location") ?? "", grant)).status, 403);
    assert.equal((await create({ ...grant, "upload-length": "5" })).status, 403);
    assert.equal((await create({ authorization: "Bearer upg_none", "upload-length": "5" })).status, 401);
  });

  it("keeps nothing of a creation whose bytes are rejected, and releases the quota", async () => {
    const { body } = await client.post("upload/grants", { routeSlug: "default" });
    const grant = bearer(body.grant.token);
    const first = { ...grant, "content-type": octets };
    const reserved = async () =>
      (await app.call("GET", "usage", { key: tenant.live })).body.usage.reservedBytes;
    const before: unknown = await reserved();
    assert.equal(typeof before, "number");
    const sum = `sha1 ${createHash("sha1").update("other").digest("base64")}`;
    const refused: [number, Headers][] = [
      [413, { "upload-length": "4" }],
      [460, { "upload-length": "5", "upload-checksum": sum }],
      [400, { "upload-length": "5", "upload-checksum": "sha512 AAAA" }],
    ];
    for (const [status, headers] of refused) {
      const response = await create({ ...first, ...headers }, Buffer.from("bytes"));
      assert.deepEqual([response.status, response.headers.get("location")], [status, null]);
    }
    assert.equal(await reserved(), before);
    const done = await create({ ...first, "upload-length": "5" }, Buffer.from("bytes"));
    await stored(done, Buffer.from("bytes"));
  });

  it("accepts no bytes after the end of a stored file", async () => {
    const done = await create({ "upload-length": "5", "content-type": octets }, Buffer.from("bytes"));
    const url = done.headers.get("location") ?? "";
    assert.equal((await patch(url, 5, new Uint8Array())).status, 204);
    assert.equal((await patch(url, 5, new Uint8Array(1))).status, 413);
    const chunked = { "upload-offset": "5", "content-type": octets };
    for (const [count, status] of [
      [0, 204],
      [1, 413],
    ] as const) {
      const body = new Blob([new Uint8Array(count)]).stream();
      const init = {
        method: "PATCH",
        headers: { "tus-resumable": "1.0.0", ...chunked },
        body,
        duplex: "half",
      };
      assert.equal((await fetch(new URL(url, app.url), init as RequestInit)).status, status);
    }
    await stored(done, Buffer.from("bytes"));
  });

  it("counts an upload's creation to a key's rate limit, and never its bytes", async (t) => {
    const limited = await startApp({ database, keepRateLimits: true });
    t.after(() => limited.close());
    const { live } = await limited.createTenant("pro");
    const at = (path: string) => new URL(path, limited.url).href;
    const start = () => create({ ...bearer(live), "upload-length": "60" }, undefined, at("/tus"));
    const url = at((await start()).headers.get("location") ?? "");
    for (let offset = 0; offset < 60; offset++)
      assert.equal((await patch(url, offset, Buffer.from("x"))).status, 204);
    const answers = [];
    for (let i = 1; i <= RATE_LIMITS.upload; i++) answers.push((await start()).status);
    assert.deepEqual(answers, [...Array(RATE_LIMITS.upload - 1).fill(201), 429]);
  });

  it("joins partial uploads without copying, with files on disk", async () => {
    const bytes = randomBytes(250_000);
    const pieces = [bytes.subarray(0, 100_000), bytes.subarray(100_000, 100_001), bytes.subarray(100_001)];
    const urls: string[] = [];
    for (const piece of pieces) {
      const url = await open({ "upload-length": String(piece.length), "upload-concat": "partial" });
      assert.equal((await patch(url, 0, piece)).status, 204);
      assert.equal((await head(url)).headers.get("upload-concat"), "partial");
      urls.push(url);
    }
    const final = await create({ "upload-concat": `final;${urls.join(" ")}` });
    if (!onDisk) {
      assert.equal(final.status, 400);
      return;
    }
    assert.equal(final.status, 201, await final.clone().text());
    await stored(final, bytes);
    const url = final.headers.get("location") ?? "";
    assert.equal((await patch(url, bytes.length, new Uint8Array(1))).status, 403);
    assert.equal((await head(urls[0] ?? "")).status, 404);
    assert.equal((await create({ "upload-concat": `final;${urls.join(" ")}` })).status, 404);
  });
});
