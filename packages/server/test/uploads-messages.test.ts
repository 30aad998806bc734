// What a refused upload tells its caller to do next.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, it } from "node:test";
import { MB, PART_URL_SEC, SINGLE_URL_SEC } from "@upstow/contract";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, putParts, smallBody, type UploadClient } from "./support/upload-client.ts";

onAnyDatabase("what to do next after a refused upload", (database) => {
  let app: TestApp;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    client = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(() => app.close());

  const putTyped = (url: string, contentType: string) =>
    fetch(url, { method: "PUT", headers: { "content-type": contentType }, body: smallBody });

  it("takes the Content-Type byte for byte", async () => {
    const { uploadUrl, fileId } = await client.request({ contentType: "text/plain; charset=utf-8" });
    for (const type of [
      "Text/plain; charset=utf-8",
      "text/plain; charset=UTF-8",
      "text/plain;charset=utf-8",
      "text/plain",
    ]) {
      const refused = await putTyped(uploadUrl, type);
      assert.equal(refused.status, 403, type);
      if (!onDisk) continue;
      const { error } = (await refused.json()) as { error: { suggestion: string } };
      assert.match(error.suggestion, /'Content-Type: text\/plain; charset=utf-8'/);
    }
    assert.equal((await putTyped(uploadUrl, "text/plain; charset=utf-8")).status, 200);
    assert.equal((await client.complete(fileId)).status, 200);
    const padded = "text/plain; charset=utf-8 ";
    const { uploadUrl: paddedUrl } = await client.request({ contentType: padded });
    assert.equal((await putTyped(paddedUrl, padded)).status, 200, "no client can send the space at its end");
  });

  onlyOnDisk("a bucket answers in its own words")(
    "names the call that gives a new URL where one has expired",
    async () => {
      const single = await client.request();
      const parts = await client.init();
      app.clock.advance(Math.max(SINGLE_URL_SEC, PART_URL_SEC) * 1000 + 1);
      for (const [url, call] of [
        [single.uploadUrl, /POST \/upload\/request again/],
        [parts.parts[0]?.uploadUrl ?? "", /POST \/upload\/multipart\/sign/],
      ] as const) {
        const refused = await fetch(url, {
          method: "PUT",
          headers: { "content-type": "text/plain" },
          body: smallBody,
        });
        const { error } = (await refused.json()) as { error: { message: string; suggestion: string } };
        assert.deepEqual([refused.status, error.message], [403, "This upload URL has expired."]);
        assert.match(error.suggestion, call);
      }
    },
  );

  it("does so where a completion finds no bytes, whose URL may have expired by then", async () => {
    const single = await client.request();
    const none = expectError(await client.complete(single.fileId), 422, "FILE_NOT_IN_STORAGE");
    assert.match(none.suggestion ?? "", /If the URL has expired, call POST \/upload\/request again/);
    const parts = await client.init();
    const missing = expectError(
      await client.completeParts(parts, [{ partNumber: 1, etag: "x" }]),
      422,
      "FILE_NOT_IN_STORAGE",
    );
    assert.match(missing.suggestion ?? "", /If the URL has expired, POST \/upload\/multipart\/sign/);
  });

  it("says that parts of partSize bytes always work where a bucket finds parts too small", async () => {
    const size = 12 * MB;
    const upload = await client.init({ fileSize: size });
    const parts = await putParts(upload, [
      randomBytes(size / 3),
      randomBytes(size / 3),
      randomBytes(size / 3),
    ]);
    const done = await client.completeParts(upload, parts);
    if (onDisk) return assert.equal(done.status, 200);
    assert.match(expectError(done, 400, "VALIDATION_ERROR").message, /Parts of partSize bytes always work/);
  });

  it("asks for a 64-bit integer as a string, and shows how", async () => {
    const body = `{"fileName":"a.txt","fileSize":11,"contentType":"text/plain","routeSlug":"default",
      "metadata":{"orderId":9223372036854775807}}`;
    const response = await fetch(`${app.url}/api/v1/upload/request`, {
      method: "POST",
      headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
      body,
    });
    const { error } = (await response.json()) as { error: { message: string; suggestion: string } };
    assert.equal(response.status, 400);
    assert.match(error.message, /has 9223372036854775807, .*send it as a string/);
    assert.match(error.suggestion, /"orderId": "9223372036854775807"/);
    const { uploadUrl, fileId } = await client.request({ metadata: { orderId: "9223372036854775807" } });
    await put(uploadUrl, smallBody);
    assert.equal((await client.complete(fileId)).body.file.metadata.orderId, "9223372036854775807");
  });

  const createUpload = async (key?: string) => {
    const response = await fetch(new URL("/tus", app.url), {
      method: "POST",
      headers: {
        "tus-resumable": "1.0.0",
        "upload-length": "5",
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
    });
    const text = await response.text();
    return { status: response.status, error: text === "" ? null : JSON.parse(text).error };
  };

  it("names upload grants where they are accepted, so that no key ends up in a page", async () => {
    for (const key of [undefined, "svc_live_wrong"]) {
      const { status, error } = await createUpload(key);
      assert.equal(status, 401);
      assert.match(error.suggestion, /upload grant/);
    }
    const { status, error } = await createUpload(app.owner.live.replace(/.$/, "_"));
    assert.deepEqual([status, error.message], [401, "Invalid or missing API key: the key is malformed."]);
  });

  it("says that uploads that were only started have used up a grant", async () => {
    const token = async (maxFiles: number): Promise<string> =>
      (await client.post("upload/grants", { routeSlug: "default", maxFiles })).body.grant.token;
    const one = await token(1);
    assert.equal((await createUpload(one)).status, 201);
    const used = await createUpload(one);
    assert.deepEqual(
      [used.status, used.error.message],
      [403, "The upload grant is used up: it allowed 1 upload, which was started."],
    );
    const two = await token(2);
    for (let n = 0; n < 2; n++) assert.equal((await createUpload(two)).status, 201);
    assert.match((await createUpload(two)).error.message, /it allowed 2 uploads, and all were started\.$/);
  });

  it("explains a form's Content-Type that was set by hand and has no boundary", async () => {
    const { body } = await client.post("upload/grants", { routeSlug: "default" });
    const response = await fetch(new URL(`/form/${body.grant.token}`, app.url), {
      method: "POST",
      headers: { "content-type": "multipart/form-data" },
      body: "x",
    });
    const { error } = (await response.json()) as { error: { message: string; suggestion: string } };
    assert.equal(response.status, 400);
    assert.match(error.message, /boundary/);
    assert.match(error.suggestion, /Leave the header out/);
  });
});
