import assert from "node:assert/strict";
import { it } from "node:test";
import { ERROR_STATUS, type ErrorCode, errorType } from "@upstow/contract";
import { expectError } from "./support/expect-error.ts";
import { type Answer, onAnyDatabase, startApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, smallBody } from "./support/upload-client.ts";

/** The contract's own table of codes. */
const statuses = {
  VALIDATION_ERROR: 400,
  INVALID_FILE_TYPE: 400,
  FILE_TOO_SMALL_FOR_MULTIPART: 400,
  UNAUTHORIZED: 401,
  TIER_LIMIT_EXCEEDED: 403,
  IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN: 403,
  IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY: 403,
  NOT_FOUND: 404,
  DUPLICATE_SLUG: 409,
  UNSUPPORTED_TRANSFORM_TYPE: 415,
  FILE_NOT_IN_STORAGE: 422,
  RATE_LIMITED: 429,
  IMAGE_TRANSFORM_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
} satisfies Partial<Record<ErrorCode, number>>;

onAnyDatabase("errors as the contract states them", (database) => {
  it("names the type that goes with the code", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const { live } = await app.createTenant("free");
    const client = createUploadClient(app, live);
    const typeOf = ({ body }: Answer) => [body.error.code, body.error.type];
    const tooLarge = await client.requestAnswer({ fileSize: 5_000_000 });
    assert.deepEqual(typeOf(tooLarge), ["TIER_LIMIT_EXCEEDED", "invalid_request"]);
    assert.deepEqual(Object.keys(tooLarge.body.error), ["type", "code", "message", "suggestion"]);
    const stranger = await app.call("GET", "files", { key: `${live}x` });
    assert.deepEqual(typeOf(stranger), ["UNAUTHORIZED", "authentication_error"]);
    for (let i = 0; i < 10; i++) await client.list();
    const limited = await client.list();
    assert.deepEqual(typeOf(limited), ["RATE_LIMITED", "rate_limit_error"]);
    assert.deepEqual(Object.keys(limited.body.error), ["type", "code", "message"]);
    assert.equal(errorType(500), "api_error");
    assert.equal(errorType(503), "api_error");
  });

  it("says FORBIDDEN where a signature does not match", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const { key } = await client.upload();
    const urls = [`/p/${"A".repeat(43)}/w_1,fit_pad,q_1,f_png/${key}`, "/t/1/A/w_1,fit_pad,q_1,f_png/x"];
    for (const path of urls) expectError(await app.call("GET", path), 403, "FORBIDDEN");
    if (!onDisk) return;
    const { uploadUrl } = await client.request();
    const sent = await put(`${uploadUrl}x`, smallBody);
    const answer = { status: sent.status, headers: sent.headers, body: await sent.json() };
    expectError(answer, 403, "FORBIDDEN");
  });

  it("gives every code the status of the table", () => {
    for (const [code, status] of Object.entries(statuses))
      assert.equal(ERROR_STATUS[code as ErrorCode], status, code);
  });
});
