import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, it } from "node:test";
import { SignJWT } from "jose";
import { statement } from "../src/db/statement.ts";
import { expectError } from "./support/expect-error.ts";
import { listOperations } from "./support/list-operations.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const findKey = statement((q, p: { id: string }) =>
  q.selectFrom("api_key").selectAll().where("id", "=", p.id),
);
/** Meant for callers without a key. */
const open = ["POST /api/v1/mcp", "GET /api/v1/mcp/health", "GET /api/v1/openapi.json"];

onAnyDatabase("authentication as the contract states it", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  it("is required by every endpoint but those of the tool protocol and the API's description", async () => {
    const operations = await listOperations(app);
    assert.ok(operations.length > 38);
    for (const { name, call } of operations) {
      if (open.includes(name)) continue;
      const error = expectError(await call(), 401, "UNAUTHORIZED");
      assert.equal(error.type, "authentication_error");
      assert.match(error.message, /^Invalid or missing API key/);
    }
    assert.equal((await app.call("GET", "mcp/health")).status, 200);
  });

  it("takes no JWT and sets no cookie", async () => {
    const jwt = await new SignJWT({ sub: app.owner.accountId })
      .setProtectedHeader({ alg: "HS256" })
      .sign(Buffer.from(app.owner.live));
    for (const key of [jwt, `svc_live_${jwt}`])
      expectError(await app.call("GET", "projects", { key }), 401, "UNAUTHORIZED");
    for (const key of [app.owner.live, undefined]) {
      const answer = await app.call("GET", "projects", key === undefined ? {} : { key });
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
  });

  it("stores the SHA-256 of a key and a masked prefix, and nothing else of it", async () => {
    const { live, projectId } = await app.createTenant("pro");
    const { body } = await app.call("POST", `projects/${projectId}/keys`, { key: live, body: {} });
    const row = await app.app.deps.db.get(findKey, { id: body.key.id });
    assert.ok(row);
    assert.equal(row.hash, hash("sha256", body.secret));
    assert.equal(row.prefix, `${body.secret.slice(0, "svc_live_".length + 4)}…`);
    const random = body.secret.slice("svc_live_".length + 4);
    assert.ok(!JSON.stringify(row).includes(random.slice(0, 8)));
  });

  it("ends with the key: a lost one is revoked, and a new one takes its place", async () => {
    const { live, projectId } = await app.createTenant("pro");
    const path = `projects/${projectId}/keys`;
    const lost = (await app.call("POST", path, { key: live, body: { name: "lost" } })).body;
    const listed = (await app.call("GET", path, { key: live })).body;
    assert.ok(!JSON.stringify(listed).includes(lost.secret));
    assert.equal((await app.call("DELETE", `keys/${lost.key.id}`, { key: live })).status, 200);
    expectError(await app.call("GET", "files", { key: lost.secret }), 401, "UNAUTHORIZED");
    const replaced = (await app.call("POST", path, { key: live, body: { name: "new" } })).body;
    assert.equal((await app.call("GET", "files", { key: replaced.secret })).status, 200);
  });
});
