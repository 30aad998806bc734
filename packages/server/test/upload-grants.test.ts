import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { UPLOAD_GRANT_FILES_MAX, UPLOAD_GRANT_MAX_SEC } from "@upstow/contract";
import { getHeldGrant } from "../src/files/uploads/grants/grant.ts";
import { type ArrivingFile, openArrival } from "../src/files/uploads/request-upload.ts";
import { AppError } from "../src/kernel/errors.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { type Answer, onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

onBothDatabases("upload grants", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    const route = { slug: "images", allowedTypes: ["image/*"], maxFileSize: 1000, access: "private" };
    assert.equal((await client.post(`projects/${tenant.projectId}/routers`, route)).status, 201);
  });
  after(() => app.close());

  const grant = (fields: object = {}, from: UploadClient = client): Promise<Answer> =>
    from.post("upload/grants", { routeSlug: "default", ...fields });
  const tokenOf = async (fields: object = {}): Promise<string> => {
    const answer = await grant(fields);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.grant.token;
  };
  const file: ArrivingFile = {
    fileName: "a.txt",
    fileSize: 10,
    contentType: "text/plain",
    routeSlug: "default",
    metadata: {},
  };
  const open = async (token: string, fields: Partial<ArrivingFile> = {}) =>
    openArrival(
      app.app.deps,
      await getHeldGrant(app.app.deps, token),
      { ...file, ...fields },
      async () => {},
    );
  const refused = (status: number, code: string) => (error: unknown) =>
    error instanceof AppError && error.status === status && error.code === code;

  it("are a token and a time", async () => {
    const { body } = await grant();
    assert.deepEqual(Object.keys(body), ["grant"]);
    assert.deepEqual(Object.keys(body.grant), ["token", "expiresAt"]);
    assert.match(body.grant.token, /^upg_[\w-]+$/);
    const lifeMs = Date.parse(body.grant.expiresAt) - app.clock.now();
    assert.ok(lifeMs > 3_590_000 && lifeMs <= 3_600_000, String(lifeMs));
    for (const [method, path] of [
      ["GET", "files"],
      ["POST", "upload/request"],
      ["POST", "upload/import"],
    ] as const)
      expectError(await app.call(method, path, { key: body.grant.token }), 401, "UNAUTHORIZED");
    assert.notEqual((await grant()).body.grant.token, body.grant.token);
  });

  it("are refused where their limits are no part of the route's", async () => {
    expectError(await grant({ routeSlug: "unknown" }), 404, "NOT_FOUND");
    expectInvalid(await grant({ expiresIn: UPLOAD_GRANT_MAX_SEC + 1 }), "expiresIn");
    expectInvalid(await grant({ maxFiles: UPLOAD_GRANT_FILES_MAX + 1 }), "maxFiles");
    expectInvalid(await grant({ maxFiles: 0 }), "maxFiles");
    const images = { routeSlug: "images" };
    expectInvalid(await grant({ ...images, allowedTypes: ["image/png", "text/plain"] }), "allowedTypes");
    expectInvalid(await grant({ ...images, allowedTypes: ["*/*"] }), "allowedTypes");
    expectInvalid(await grant({ ...images, access: "public" }), "access");
    expectInvalid(await grant({ metadata: { big: "x".repeat(17_000) } }), "metadata");
    const live = { slug: "live-only", environment: "live" };
    assert.equal((await client.post(`projects/${tenant.projectId}/routers`, live)).status, 201);
    const fromTest = await grant({ routeSlug: "live-only" }, createUploadClient(app, tenant.test));
    expectError(fromTest, 401, "UNAUTHORIZED");
  });

  it("give exactly as many places as they have, of which a refused file takes none", async () => {
    const token = await tokenOf({ maxFiles: 3, maxFileSize: 100 });
    await assert.rejects(open(token, { fileSize: 101 }), refused(413, "TIER_LIMIT_EXCEEDED"));
    await assert.rejects(
      open(token, { metadata: { big: "x".repeat(17_000) } }),
      refused(400, "VALIDATION_ERROR"),
    );
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => open(token)));
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 3);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") assert.ok(refused(403, "FORBIDDEN")(outcome.reason), outcome.reason);
    await assert.rejects(open(token), refused(403, "FORBIDDEN"));
  });

  it("limit type, size, access and metadata", async () => {
    const token = await tokenOf({
      routeSlug: "images",
      maxFiles: 9,
      allowedTypes: ["image/png"],
      metadata: { user: "u1", fixed: true },
      audience: "order-7",
    });
    await assert.rejects(open(token, { contentType: "image/gif" }), refused(400, "INVALID_FILE_TYPE"));
    await assert.rejects(open(token, { contentType: "text/plain" }), refused(400, "INVALID_FILE_TYPE"));
    const png = { contentType: "image/png", routeSlug: "default" };
    await assert.rejects(open(token, { ...png, fileSize: 1001 }), refused(413, "TIER_LIMIT_EXCEEDED"));
    const row = await open(token, { ...png, metadata: { user: "forged", note: "n" } });
    assert.deepEqual(JSON.parse(row.metadata), { user: "u1", note: "n", fixed: true });
    const { route_slug, access, audience, environment, size_bytes } = row;
    assert.deepEqual(
      { route_slug, access, audience, environment, size_bytes },
      { route_slug: "images", access: "private", audience: "order-7", environment: "live", size_bytes: 10 },
    );
    const unknownSize = await open(token, { ...png, fileSize: null });
    assert.equal(unknownSize.size_bytes, 1000);
  });

  it("end with their time, and with the key that created them", async () => {
    const token = await tokenOf({ expiresIn: 60, maxFiles: 9 });
    await open(token);
    app.clock.advance(60_000);
    await assert.rejects(open(token), refused(403, "FORBIDDEN"));

    const made = await client.post(`projects/${tenant.projectId}/keys`, { name: "short" });
    const answer = await grant({}, createUploadClient(app, made.body.secret));
    const { token: ofKey } = answer.body.grant;
    await getHeldGrant(app.app.deps, ofKey);
    const path = `keys/${made.body.key.id}`;
    assert.equal((await app.call("DELETE", path, { key: tenant.live })).status, 200);
    await assert.rejects(getHeldGrant(app.app.deps, ofKey), refused(401, "UNAUTHORIZED"));
    const forged = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    await assert.rejects(getHeldGrant(app.app.deps, forged), refused(401, "UNAUTHORIZED"));
  });
});
