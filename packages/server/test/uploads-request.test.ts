import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import { GB, MB } from "@upstow/contract";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

onBothDatabases("asking for an upload", (database) => {
  let app: TestApp;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    client = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(() => app.close());

  async function addRoute(fields: object, tier: "free" | "pro" = "pro") {
    const tenant = await app.createTenant(tier);
    const created = await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug: "photos", ...fields },
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return {
      tenant,
      live: createUploadClient(app, tenant.live),
      test: createUploadClient(app, tenant.test),
    };
  }

  it("answers a request with exactly its four fields and an init with its six", async () => {
    const requested = await client.requestAnswer();
    assert.equal(requested.status, 200);
    assert.deepEqual(Object.keys(requested.body).sort(), ["cdnUrl", "fileId", "key", "uploadUrl"]);
    const { fileId, key, cdnUrl } = requested.body;
    assert.match(key, /^[0-9a-z]{26}\/default\/[0-9a-z]{26}\/hello\.txt$/);
    assert.equal(cdnUrl, `${app.app.deps.config.cdnUrl}/f/${key}`);

    const initiated = await client.initAnswer();
    assert.equal(initiated.status, 200);
    const fields = ["cdnUrl", "fileId", "key", "partSize", "parts", "uploadId"];
    assert.deepEqual(Object.keys(initiated.body).sort(), fields);
    assert.equal(initiated.body.partSize, 5 * MB);
    assert.deepEqual(
      initiated.body.parts.map((part: { partNumber: number }) => part.partNumber),
      [1, 2, 3],
    );
    assert.deepEqual(Object.keys(initiated.body.parts[0]).sort(), ["partNumber", "uploadUrl"]);
    assert.notEqual(initiated.body.fileId, fileId);
  });

  describe("refuses a bad body and names the field", () => {
    const good = { fileName: "a.txt", fileSize: 11, contentType: "text/plain", routeSlug: "default" };
    const rows: [string, object][] = [
      ["fileName", { fileName: undefined }],
      ["fileName", { fileName: "" }],
      ["fileName", { fileName: 7 }],
      ["fileName", { fileName: "x".repeat(256) }],
      ["fileName", { fileName: "𝒳".repeat(256) }],
      ["fileSize", { fileSize: undefined }],
      ["fileSize", { fileSize: 0 }],
      ["fileSize", { fileSize: -1 }],
      ["fileSize", { fileSize: 1.5 }],
      ["fileSize", { fileSize: "11" }],
      ["fileSize", { fileSize: null }],
      ["fileSize", { fileSize: 2 ** 53 }],
      ["contentType", { contentType: undefined }],
      ["contentType", { contentType: "" }],
      ["contentType", { contentType: "text" }],
      ["contentType", { contentType: "text/plain/x" }],
      ["contentType", { contentType: "text/plain\r\nX-Evil: 1" }],
      ["contentType", { contentType: "text/plain; a=é" }],
      ["contentType", { contentType: ["text/plain"] }],
      ["routeSlug", { routeSlug: undefined }],
      ["routeSlug", { routeSlug: "" }],
      ["routeSlug", { routeSlug: "s".repeat(101) }],
      ["metadata", { metadata: [] }],
      ["metadata", { metadata: "text" }],
      ["metadata", { metadata: null }],
      ["access", { access: "secret" }],
      ["audience", { audience: "" }],
      ["audience", { audience: "a".repeat(129) }],
    ];
    for (const [path, change] of rows) {
      it(`${path}: ${JSON.stringify(change).slice(0, 60)}`, async () => {
        expectInvalid(await client.post("upload/request", { ...good, ...change }), path);
        const big = { ...good, fileSize: 11 * MB, ...change };
        if (path !== "fileSize" || typeof big.fileSize !== "number" || big.fileSize <= 0)
          expectInvalid(await client.post("upload/multipart/init", big), path);
      });
    }
  });

  it("judges sizes over 5 GiB by route and tier like others, and names multipart only where a bucket needs it", async () => {
    expectError(await client.requestAnswer({ routeSlug: "gone", fileSize: 20 * GB }), 404, "NOT_FOUND");
    for (const [tier, fileSize] of [
      ["free", 6 * GB],
      ["pro", 5 * GB + 1],
      ["team", 5 * GB + 1],
      ["enterprise", 10 * GB + 1],
    ] as const) {
      const live = createUploadClient(app, (await app.createTenant(tier)).live);
      expectError(await live.requestAnswer({ fileSize }), 403, "TIER_LIMIT_EXCEEDED");
    }
    const largest = createUploadClient(app, (await app.createTenant("enterprise")).live);
    assert.equal((await largest.requestAnswer({ fileSize: 5 * GB })).status, 200);
    for (const fileSize of [5 * GB + 1, 10 * GB]) {
      const answer = await largest.requestAnswer({ fileSize });
      if (onDisk) assert.equal(answer.status, 200);
      else
        assert.match(
          expectError(answer, 400, "VALIDATION_ERROR").suggestion ?? "",
          /\/upload\/multipart\/init/,
        );
    }
    const { usage } = (await app.call("GET", "usage", { key: largest.key })).body;
    assert.equal(usage.uploads, 0, "a refusal reserves nothing");
  });

  onlyOnDisk("a bucket takes 5 GiB in one piece at most")(
    "takes a single body over 5 GiB on disk",
    async () => {
      const largest = createUploadClient(app, app.owner.live);
      const { uploadUrl } = await largest.request({ fileSize: 5 * GB + 1 });
      const headers = {
        "content-type": "text/plain",
        "content-length": String(5 * GB + 1),
        expect: "100-continue",
      };
      const asking = request(uploadUrl, { method: "PUT", headers });
      asking.on("error", () => {});
      asking.flushHeaders();
      const answered = await Promise.race([
        once(asking, "continue").then(() => 100),
        once(asking, "response").then(([{ statusCode }]) => statusCode),
      ]);
      asking.destroy();
      // A machine without that much room says so, and has judged the size by then.
      assert.ok([100, 507].includes(answered), String(answered));
    },
  );

  it("counts code points: 255 four-byte characters are a name", async () => {
    const fileName = `${"𝒳".repeat(251)}.txt`;
    const { key, fileId } = await client.request({ fileName });
    assert.ok(Buffer.byteLength(key) <= 900, `${Buffer.byteLength(key)} bytes`);
    assert.ok(key.endsWith("𝒳.txt"), "the extension stays and no character is cut in half");
    assert.ok(Buffer.byteLength(key) > 890);
    const list = await client.list("?limit=1");
    assert.equal(list.body.files[0].id, fileId);
    assert.equal(list.body.files[0].name, fileName);
  });

  it("keeps characters out of a key that a bucket could not answer with", async () => {
    const { key } = await client.request({ fileName: "a\uFFFEb\uFFFFc\uFFFD.txt" });
    assert.ok(key.endsWith("/a_b_c\uFFFD.txt"), key);
  });

  it("cuts a key at 900 bytes with the longest slug, and drops an extension that is none", async () => {
    const slug = "s".repeat(100);
    const { live } = await addRoute({ slug });
    for (const fileName of [`a.${"é".repeat(253)}`, "日".repeat(255), `${"日".repeat(250)}.jpeg`]) {
      const { key } = await live.request({ fileName, routeSlug: slug });
      assert.ok(Buffer.byteLength(key) <= 900);
      assert.ok(key.isWellFormed() && !key.includes("\ufffd"));
      if (fileName.endsWith(".jpeg")) assert.ok(key.endsWith("日.jpeg"));
    }
  });

  it("checks in the decided order: body, route, its environment, type, size, quota", async () => {
    const { live, test } = await addRoute(
      { allowedTypes: ["image/png"], maxFileSize: 1000, environment: "live" },
      "free",
    );
    const wrongAll = { routeSlug: "photos", contentType: "text/html", fileSize: 11 * MB };
    const tooDeep = { metadata: nest(11) };
    const overAlready = { expiresAt: "2020-01-01T00:00:00Z" };
    for (const [single, path] of [
      [true, "requestAnswer"],
      [false, "initAnswer"],
    ] as const) {
      expectInvalid(await test[path]({ ...wrongAll, routeSlug: "gone", ...tooDeep }), "metadata");
      expectInvalid(await test[path]({ ...wrongAll, routeSlug: "gone", ...overAlready }), "expiresAt");
      expectError(await test[path]({ ...wrongAll, routeSlug: "gone" }), 404, "NOT_FOUND");
      expectError(await test[path](wrongAll), 401, "UNAUTHORIZED");
      expectError(await live[path](wrongAll), 400, "INVALID_FILE_TYPE");
      const rightType = { ...wrongAll, contentType: "image/png" };
      expectError(await live[path](rightType), 403, "TIER_LIMIT_EXCEEDED");
      if (single) assert.equal((await live[path]({ ...rightType, fileSize: 1000 })).status, 200);
    }
    const tooSmall = { ...wrongAll, routeSlug: "gone", fileSize: 10 * MB };
    expectError(await test.initAnswer(tooSmall), 400, "FILE_TOO_SMALL_FOR_MULTIPART");
    expectInvalid(await test.initAnswer({ ...tooSmall, ...tooDeep }), "metadata");
  });

  it("draws the line for multipart above 10 MB and lets a single file go beyond it", async () => {
    expectError(await client.initAnswer({ fileSize: 10 * MB }), 400, "FILE_TOO_SMALL_FOR_MULTIPART");
    const initiated = await client.init({ fileSize: 10 * MB + 1 });
    assert.equal(initiated.parts.length, 3);
    assert.equal((await client.requestAnswer({ fileSize: 10 * MB + 1 })).status, 200);
    assert.equal((await client.requestAnswer({ fileSize: 512 * MB })).status, 200);
    expectError(await client.requestAnswer({ fileSize: 512 * MB + 1 }), 403, "TIER_LIMIT_EXCEEDED");
    expectError(await client.initAnswer({ fileSize: 512 * MB + 1 }), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("holds the tier's largest file for test keys too, and each tier at its own", async () => {
    for (const [tier, most] of [
      ["free", 4 * MB],
      ["team", 5 * GB],
    ] as const) {
      const tenant = await app.createTenant(tier);
      const live = createUploadClient(app, tenant.live);
      const test = createUploadClient(app, tenant.test);
      assert.equal((await live.requestAnswer({ fileSize: most })).status, 200);
      expectError(await live.initAnswer({ fileSize: most + 10 * GB }), 403, "TIER_LIMIT_EXCEEDED");
      if (tier === "free")
        expectError(await test.requestAnswer({ fileSize: most + 1 }), 403, "TIER_LIMIT_EXCEEDED");
    }
    const enterprise = createUploadClient(app, app.owner.live);
    assert.equal((await enterprise.init({ fileSize: 10 * GB })).parts.length, 2048);
    expectError(await enterprise.initAnswer({ fileSize: 10 * GB + 1 }), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("matches types without case and parameters, by family and by */*", async () => {
    const rows: [string[], string, boolean][] = [
      [["image/png"], "IMAGE/PNG", true],
      [["Image/PNG"], "image/png; q=1", true],
      [["image/png"], "image/png ;charset=x", true],
      [["image/png"], "image/pngx", false],
      [["image/*"], "image/svg+xml", true],
      [["image/*"], "imagex/png", false],
      [["image/*"], "text/image", false],
      [["*/*"], "x/y", true],
      [["text/plain", "application/pdf"], "application/pdf", true],
      [["text/plain"], "text/html; text/plain", false],
      [[], "anything/at.all", true],
    ];
    for (const [allowedTypes, contentType, isAllowed] of rows) {
      const { live } = await addRoute({ allowedTypes });
      const answer = await live.requestAnswer({ routeSlug: "photos", contentType });
      if (isAllowed) assert.equal(answer.status, 200, `${allowedTypes} ${contentType}`);
      else expectError(answer, 400, "INVALID_FILE_TYPE");
    }
  });

  it("takes the smaller of the route's and the tier's limit", async () => {
    const { live } = await addRoute({ maxFileSize: 100 });
    assert.equal((await live.requestAnswer({ routeSlug: "photos", fileSize: 100 })).status, 200);
    expectError(await live.requestAnswer({ routeSlug: "photos", fileSize: 101 }), 403, "TIER_LIMIT_EXCEEDED");
    const wide = await addRoute({ maxFileSize: 100 * MB }, "free");
    expectError(
      await wide.live.requestAnswer({ routeSlug: "photos", fileSize: 5 * MB }),
      403,
      "TIER_LIMIT_EXCEEDED",
    );
  });

  it("gives a test key 401 on a live route and the reverse, and leaves no row behind", async () => {
    const live = await addRoute({ environment: "live" });
    const refused = await live.test.requestAnswer({ routeSlug: "photos" });
    const { suggestion } = expectError(refused, 401, "UNAUTHORIZED");
    assert.match(suggestion, /"photos" accepts only live keys/);
    const test = await addRoute({ environment: "live" });
    await app.call("POST", `projects/${test.tenant.projectId}/routers`, {
      key: test.tenant.test,
      body: { slug: "sandbox", environment: "test" },
    });
    expectError(await test.live.requestAnswer({ routeSlug: "sandbox" }), 401, "UNAUTHORIZED");
    assert.equal((await test.test.requestAnswer({ routeSlug: "sandbox" })).status, 200);
    assert.deepEqual((await live.test.list()).body.files, []);
  });

  it("knows no route of another project, even by the same slug", async () => {
    const { live } = await addRoute({ slug: "mine" });
    assert.equal((await live.requestAnswer({ routeSlug: "mine" })).status, 200);
    expectError(await client.requestAnswer({ routeSlug: "mine" }), 404, "NOT_FOUND");
    expectError(await client.requestAnswer({ routeSlug: "DEFAULT" }), 404, "NOT_FOUND");
  });

  it("ignores fields that are not the client's to set", async () => {
    const answer = await client.post("upload/request", {
      fileName: "a.txt",
      fileSize: smallBody.length,
      contentType: "text/plain",
      routeSlug: "default",
      status: "UPLOADED",
      projectId: app.owner.projectId,
      environment: "test",
      size: 1,
      url: "https://evil.example",
      key: "../../etc/passwd",
      id: "mine",
    });
    assert.equal(answer.status, 200);
    const { file } = (await client.get(answer.body.key)).body;
    assert.equal(file.status, "UPLOADING");
    assert.equal(file.size, smallBody.length);
    assert.equal(file.id, answer.body.fileId);
  });

  describe("limits metadata", () => {
    const sized = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
    it("to 16 KiB serialised, counted in bytes", async () => {
      assert.equal((await client.requestAnswer({ metadata: sized(16_384) })).status, 200);
      expectInvalid(await client.requestAnswer({ metadata: sized(16_385) }), "metadata");
      const wide = { a: "é".repeat(8_188) };
      assert.equal(Buffer.byteLength(JSON.stringify(wide)), 16_384);
      assert.equal((await client.requestAnswer({ metadata: wide })).status, 200);
      expectInvalid(await client.requestAnswer({ metadata: { a: "é".repeat(8_189) } }), "metadata");
    });

    it("to a depth of 10, arrays counted", async () => {
      assert.equal((await client.requestAnswer({ metadata: nest(10) })).status, 200);
      expectInvalid(await client.requestAnswer({ metadata: nest(11) }), "metadata");
      const inArrays = { a: JSON.parse("[".repeat(10) + "]".repeat(10)) };
      expectInvalid(await client.requestAnswer({ metadata: inArrays }), "metadata");
    });

    it("in every call that takes it, and changes nothing where it is refused", async () => {
      const { fileId, uploadUrl, key } = await client.request({ metadata: { kept: true } });
      await put(uploadUrl, smallBody);
      expectInvalid(await client.complete(fileId, nest(11)), "metadata");
      expectInvalid(await client.complete(fileId, sized(16_385)), "metadata");
      expectInvalid(await client.patch(key, { metadata: nest(11) }), "metadata");
      const upload = await client.init();
      const parts = [{ partNumber: 1, etag: "x" }];
      expectInvalid(await client.completeParts(upload, parts, nest(11)), "metadata");
      const { file } = (await client.get(key)).body;
      assert.deepEqual([file.status, file.metadata], ["UPLOADING", { kept: true }]);
    });

    it("and keeps every key as data, the dangerous ones too", async () => {
      const text =
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","a\\nb":1,"":2,"é":[null,1.5,true]}';
      const body = `{"fileName":"a","fileSize":11,"contentType":"text/plain","routeSlug":"default","metadata":${text}}`;
      const answer = await app.call("POST", "upload/request", { key: client.key, body });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const raw = await fetch(`${app.url}/api/v1/files/${encodeURIComponent(answer.body.key)}`, {
        headers: { authorization: `Bearer ${client.key}` },
      });
      const got = await raw.text();
      assert.ok(got.includes(`"metadata":${text}`), got);
      assert.equal(({} as { polluted?: number }).polluted, undefined);
      await put(answer.body.uploadUrl, smallBody);
      const completed = await fetch(`${app.url}/api/v1/upload/complete`, {
        method: "POST",
        headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
        body: JSON.stringify({ fileId: answer.body.fileId }),
      });
      assert.ok((await completed.text()).includes(`"metadata":${text}`));
    });
  });
});

/** An object nested `depth` deep. */
function nest(depth: number): Record<string, unknown> {
  return depth === 1 ? {} : { a: nest(depth - 1) };
}
