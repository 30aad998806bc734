// What clients and suites of others ask for and this service does not do. docs/compatibility.md lists it, so a test that
// fails here means that the page promises too little.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Upload } from "tus-js-client";
import { startApp, type TestApp } from "./support/start-app.ts";
import { createDraftClient, some } from "./support/tus/draft-client.ts";

describe("not supported", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  const upload = (): Promise<Upload> =>
    new Promise((resolve, reject) => {
      const sent = new Upload(Buffer.from("hello world"), {
        endpoint: `${app.url}/tus`,
        headers: { Authorization: `Bearer ${app.owner.live}` },
        metadata: { filename: "hello.txt", filetype: "text/plain", nonlatin: "słońce", number: "100" },
        uploadDataDuringCreation: true,
        onSuccess: () => resolve(sent),
        onError: reject,
      });
      sent.start();
    });

  it("tus-js-client: GET of an upload's URL", async () => {
    const { url } = await upload();
    assert.equal((await fetch(url ?? "")).status, 405);
  });

  it("tus-js-client: ends a finished upload, and deletes its file", async () => {
    const sent = await upload();
    await assert.rejects(sent.abort(true), /response code: 403/);
  });

  it("tus 1.0: checksum-trailer, concatenation-unfinished", async () => {
    const { headers } = await fetch(`${app.url}/tus`, { method: "OPTIONS" });
    const extensions = String(headers.get("tus-extension")).split(",");
    assert.ok(extensions.includes("checksum"));
    for (const name of ["checksum-trailer", "concatenation-unfinished"])
      assert.ok(!extensions.includes(name), name);
  });

  it("FilePond: chunkUploads, which differs from tus", async () => {
    const headers = { authorization: `Bearer ${app.owner.live}`, "upload-length": "5" };
    assert.equal((await fetch(`${app.url}/tus`, { method: "POST", headers })).status, 412);
  });

  it("IETF draft: interop version 3, as URLSession of iOS 17 sends it", async () => {
    const { create } = createDraftClient(app.url, app.owner.live, "3");
    const { status, early, body } = await create({ "upload-incomplete": "?1" }, some(32));
    assert.deepEqual([status, early], [400, []]);
    assert.match(body.error.suggestion, /^Version 3 of the draft/);
  });

  it("IETF draft: interop versions 4 and 7 have no early 104", async () => {
    for (const version of ["4", "7"]) {
      const { create } = createDraftClient(app.url, app.owner.live, version);
      const { status, early } = await create({ "upload-complete": "?1" }, some(32));
      assert.deepEqual([status, early], [200, []]);
    }
  });
});
