import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { WELCOME_UPLOAD_MAX_BYTES, WELCOME_UPLOADS } from "@upstow/contract";
import { claimInstallation } from "../../site/test/support/claim.ts";
import { expectError } from "./support/expect-error.ts";
import { onAnyDatabase, type StartOptions, startApp, type TestApp } from "./support/start-app.ts";

const picture = { fileName: "harbour.txt", fileSize: 7, contentType: "text/plain" };

async function startClaimed(options: StartOptions = {}): Promise<TestApp> {
  const app = await startApp(options);
  await claimInstallation(app);
  return app;
}

const request = (app: TestApp, body: object = picture, headers: Record<string, string> = {}) =>
  app.call("POST", "/welcome/uploads", { body, headers });

const findState = async (app: TestApp, headers: Record<string, string> = {}) =>
  (await app.call("GET", "/welcome/state", { headers })).body.state;

onAnyDatabase("the welcome page's dropzone", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  it("stays closed until the installation is claimed, then stores files in the owner's sandbox", async () => {
    assert.equal(await findState(app), "unclaimed");
    expectError(await request(app), 403, "FORBIDDEN");
    await claimInstallation(app);
    assert.equal(await findState(app), "ready");

    const { body: opened } = await request(app);
    const put = await fetch(opened.uploadUrl, {
      method: "PUT",
      headers: { "content-type": picture.contentType },
      body: "harbour",
    });
    assert.equal(put.status, 200);
    const stream = await fetch(`${app.url}/welcome/events/${opened.fileId}`);
    const completed = await app.call("POST", "/welcome/uploads/complete", {
      body: { fileId: opened.fileId },
    });
    assert.equal(completed.status, 200);
    assert.equal(await (await fetch(completed.body.file.url)).text(), "harbour");

    // The stream ends by itself with the one event.
    const [, data = ""] = /^event: upload\.completed\ndata: (.+)$/m.exec(await stream.text()) ?? [];
    assert.equal(JSON.parse(data).body.file.id, opened.fileId);
    assert.deepEqual(completed.body.file.metadata, { uploadedFrom: "welcome page" });
    const listed = async (key: string) =>
      (await app.call("GET", "files", { key })).body.files.map(({ id }: { id: string }) => id);
    assert.deepEqual(await listed(app.owner.test), [opened.fileId]);
    assert.deepEqual(await listed(app.owner.live), []);
  });

  it("rejects large files, and types that a browser would run", async () => {
    const tooLarge = { ...picture, fileSize: WELCOME_UPLOAD_MAX_BYTES + 1 };
    expectError(await request(app, tooLarge), 400, "VALIDATION_ERROR");
    for (const contentType of ["text/html", "image/svg+xml", "text/javascript", "application/xhtml+xml"])
      expectError(await request(app, { ...picture, contentType }), 400, "VALIDATION_ERROR");
  });
});

describe("who may use the welcome page's dropzone", () => {
  it("is by default whoever opens it on this machine, from the page itself", async () => {
    const app = await startClaimed();
    try {
      for (const headers of [{ "x-forwarded-for": "203.0.113.7" }, { via: "1.1 proxy" }]) {
        assert.notEqual(await findState(app, headers), "ready");
        expectError(await request(app, picture, headers), 403, "FORBIDDEN");
      }
      expectError(await request(app, picture, { origin: "https://evil.example" }), 403, "FORBIDDEN");
      assert.equal((await request(app, picture, { origin: app.url })).status, 200);
    } finally {
      await app.close();
    }
  });

  it("is nobody at a public URL, unless the operator says so", async () => {
    const publicUrl = { UPSTOW_PUBLIC_URL: "https://files.example.com", UPSTOW_TRUSTED_PROXIES: "127.0.0.1" };
    for (const [welcome, state] of [
      ["local", "off"],
      ["off", "off"],
      ["on", "ready"],
    ]) {
      const app = await startApp({ env: { ...publicUrl, UPSTOW_WELCOME_UPLOADS: welcome ?? "" } });
      const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" };
      try {
        const token = app.app.firstStart?.loginToken;
        await app.call("POST", "/dashboard/api/claim", {
          body: { token, email: "owner@example.com", password: "a long enough password" },
          headers: { ...headers, origin: "https://files.example.com" },
        });
        assert.equal(await findState(app, headers), state, welcome);
      } finally {
        await app.close();
      }
    }
  });

  it("is limited per address and altogether", async () => {
    const app = await startClaimed({
      env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_WELCOME_UPLOADS: "on" },
      keepRateLimits: true,
    });
    const from = (address: string) =>
      request(app, picture, { "x-forwarded-for": address, "x-forwarded-proto": "https" });
    try {
      for (let i = 0; i < WELCOME_UPLOADS.perAddress; i++)
        assert.equal((await from("203.0.113.7")).status, 200);
      const refused = await from("203.0.113.7");
      expectError(refused, 429, "RATE_LIMITED");
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      for (let i = WELCOME_UPLOADS.perAddress; i < WELCOME_UPLOADS.total; i++)
        assert.equal((await from(`198.51.100.${i}`)).status, 200);
      expectError(await from("192.0.2.1"), 429, "RATE_LIMITED");
    } finally {
      await app.close();
    }
  });
});
