import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { TIERS } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { serviceAuthor } from "../src/kernel/actor.ts";
import { createId } from "../src/kernel/ids.ts";
import { isApiKey } from "../src/kernel/security/api-key-secret.ts";
import { createKey, revokeKey } from "../src/projects/api-keys/api-keys.ts";
import { setLastUsed } from "../src/projects/api-keys/queries.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { keepData } from "./support/keep-data.ts";
import {
  type CallOptions,
  onBothDatabases,
  startApp,
  type Tenant,
  type TestApp,
} from "./support/start-app.ts";

const findRevokedAt = statement((q, p: { id: string }) =>
  q.selectFrom("api_key").select("revoked_at").where("id", "=", p.id),
);
const closeProject = statement((q, p: { id: string; now: number }) =>
  q.updateTable("project").set({ deleted_at: p.now }).where("id", "=", p.id),
);

const fields = ["id", "projectId", "name", "type", "prefix", "lastUsedAt", "createdAt"];

onBothDatabases("API keys", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const path = (tenant: Tenant) => `projects/${tenant.projectId}/keys`;
  const create = (tenant: Tenant, key: string, body?: CallOptions["body"]) =>
    app.call("POST", path(tenant), { key, body });
  const list = async (tenant: Tenant, type: "live" | "test" = "live") =>
    (await app.call("GET", path(tenant), { key: tenant[type] })).body.keys;
  const idOf = async (tenant: Tenant, type: "live" | "test") => (await list(tenant, type))[0].id;

  it("creates with 201, shows the secret this once, and lists without it", async () => {
    const tenant = await app.createTenant("pro");
    const { status, body } = await create(tenant, tenant.live, { name: "CI 🚀", type: "live" });
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), ["key", "secret"]);
    assert.deepEqual(Object.keys(body.key), fields);
    assert.ok(isApiKey(body.secret));
    const mistyped = body.secret.replace(/.$/, (last: string) => (last === "a" ? "b" : "a"));
    assert.ok(!isApiKey(mistyped), "the checksum gives it away without a lookup");
    assert.match(body.secret, /^svc_live_[0-9A-Za-z]{38}$/);
    assert.equal(body.key.prefix, `${body.secret.slice(0, "svc_live_".length + 4)}…`);
    assert.deepEqual(
      [body.key.name, body.key.type, body.key.lastUsedAt, body.key.projectId],
      ["CI 🚀", "live", null, tenant.projectId],
    );
    assert.equal((await app.call("GET", "usage", { key: body.secret })).status, 200);
    const listed = await app.call("GET", path(tenant), { key: tenant.live });
    assert.deepEqual(Object.keys(listed.body), ["keys"]);
    for (const key of listed.body.keys) assert.deepEqual(Object.keys(key), fields);
    assert.ok(!JSON.stringify(listed.body).includes(body.secret));
  });

  it("takes its place in its own project alone, and none in one that was deleted", async () => {
    const [tenant, neighbour] = [await app.createTenant("pro"), await app.createTenant("pro")];
    const limit = TIERS.pro.keysPerProject ?? 0;
    for (let made = 1; made < limit; made++) assert.equal((await create(tenant, tenant.live)).status, 201);
    expectError(await create(tenant, tenant.live), 403, "TIER_LIMIT_EXCEEDED");
    assert.equal((await create(neighbour, neighbour.live)).status, 201);

    const { projectId } = neighbour;
    await app.call("DELETE", `projects/${projectId}`, { key: neighbour.live });
    const wanted = { projectId, tier: "pro", type: "live", name: "late" } as const;
    const late = app.app.deps.db.transact((tx) => createKey(tx, app.clock.now(), wanted));
    await assert.rejects(late, { code: "TIER_LIMIT_EXCEEDED" });
  });

  it("never moves the time of its last use back", async () => {
    const tenant = await app.createTenant("pro");
    const id = await idOf(tenant, "test");
    const { db } = app.app.deps;
    const at = Date.UTC(2031, 0, 1);
    for (const time of [at, at - 1000]) await db.run(setLastUsed, { id, at: time });
    const [key] = await list(tenant, "test");
    assert.equal(key.lastUsedAt, new Date(at).toISOString());
  });

  it("needs neither a name nor a body, and gives the type of the calling key", async () => {
    const tenant = await app.createTenant("pro");
    const byTest = await create(tenant, tenant.test);
    assert.deepEqual([byTest.status, byTest.body.key.type, byTest.body.key.name], [201, "test", "test key"]);
    assert.match(byTest.body.secret, /^svc_test_/);
    assert.equal((await create(tenant, tenant.live, {})).body.key.type, "live");
    for (const [key, type] of [
      [tenant.test, "live"],
      [tenant.live, "test"],
    ] as const) {
      const refused = expectError(await create(tenant, key, { type }), 401, "UNAUTHORIZED");
      assert.ok(
        refused.suggestion.includes(`Send a ${type} key, or create the first one`),
        refused.suggestion,
      );
    }
  });

  it("refuses wrong fields and ignores forged ones", async () => {
    const tenant = await app.createTenant("pro");
    for (const name of ["", "x".repeat(101), 5, null]) {
      expectInvalid(await create(tenant, tenant.live, { name }), "name");
    }
    for (const type of ["prod", "", null, 1]) {
      expectInvalid(await create(tenant, tenant.live, { type }), "type");
    }
    const forged = {
      hash: "0",
      secret: "svc_live_mine",
      prefix: "p",
      projectId: app.owner.projectId,
      id: "i",
    };
    const { body } = await create(tenant, tenant.live, forged);
    assert.equal(body.key.projectId, tenant.projectId);
    assert.ok(isApiKey(body.secret) && body.key.id !== "i");
  });

  it("holds the tier's number of keys against 50 concurrent creations, and frees a place on revocation", async () => {
    const tenant = await app.createTenant("pro");
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(tenant, tenant.live, {})));
    const made = answers.filter((answer) => answer.status === 201);
    assert.equal(made.length, 9);
    for (const answer of answers) if (answer.status !== 201) expectError(answer, 403, "TIER_LIMIT_EXCEEDED");
    assert.equal((await list(tenant)).length, 10);
    await app.call("DELETE", `keys/${made[0]?.body.key.id}`, { key: tenant.live });
    assert.equal((await create(tenant, tenant.live, {})).status, 201);
    expectError(await create(tenant, tenant.live, {}), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("revokes at once, once, and takes the key off the list", async () => {
    const tenant = await app.createTenant("pro");
    const { key, secret } = (await create(tenant, tenant.live, {})).body;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => app.call("DELETE", `keys/${key.id}`, { key: tenant.live })),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array(9).fill(404)]);
    assert.deepEqual(answers.find((answer) => answer.status === 200)?.body, { ok: true });
    expectError(await app.call("GET", "projects", { key: secret }), 401, "UNAUTHORIZED");
    assert.ok((await list(tenant)).every((listed: { id: string }) => listed.id !== key.id));
    assert.equal(
      (await app.call("DELETE", `keys/${await idOf(tenant, "live")}`, { key: tenant.live })).status,
      200,
    );
    expectError(await app.call("GET", "projects", { key: tenant.live }), 401, "UNAUTHORIZED");
  });

  it("frees one place where two revoke it at the same moment, and keeps the time of the first", async () => {
    const tenant = await app.createTenant("pro");
    const limit = TIERS.pro.keysPerProject ?? 0;
    for (let made = 1; made < limit; made++) assert.equal((await create(tenant, tenant.live)).status, 201);
    const id = (await list(tenant)).at(0).id;
    const { db } = app.app.deps;
    const now = app.clock.now();
    const revoke = (at: number) => db.transact((tx) => revokeKey(tx, at, serviceAuthor, id));
    await revoke(now);
    await assert.rejects(revoke(now + 1), { code: "NOT_FOUND" });
    assert.equal((await create(tenant, tenant.live)).status, 201);
    expectError(await create(tenant, tenant.live), 403, "TIER_LIMIT_EXCEEDED");
    assert.equal(
      (await app.call("DELETE", `projects/${tenant.projectId}`, { key: tenant.live })).status,
      200,
    );
    assert.equal((await db.get(findRevokedAt, { id }))?.revoked_at, now);
  });

  it("opens nothing in a project that was deleted, were it revoked or not", async () => {
    const [tenant, neighbour] = [await app.createTenant("pro"), await app.createTenant("pro")];
    await app.app.deps.db.run(closeProject, { id: tenant.projectId, now: app.clock.now() });
    expectError(await app.call("GET", "usage", { key: tenant.live }), 401, "UNAUTHORIZED");
    assert.equal((await app.call("GET", "usage", { key: neighbour.live })).status, 200);
    const { projectId, live } = neighbour;
    assert.equal((await app.call("DELETE", `projects/${projectId}`, { key: live })).status, 200);
    expectError(await app.call("GET", "usage", { key: live }), 401, "UNAUTHORIZED");
    assert.equal((await app.call("GET", "usage", { key: app.owner.live })).status, 200);
  });

  it("shows a key those of its own type only", async () => {
    const tenant = await app.createTenant("pro");
    await create(tenant, tenant.live, {});
    for (const [type, count] of [
      ["live", 2],
      ["test", 1],
    ] as const) {
      const types = (await list(tenant, type)).map((key: { type: string }) => key.type);
      assert.deepEqual(types, Array(count).fill(type));
    }
  });

  it("counts live and test keys apart: Free has room to rotate either", async () => {
    const tenant = await app.createTenant("free");
    for (const key of [tenant.live, tenant.test]) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => create(tenant, key, {})));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      expectError(await create(tenant, key, {}), 403, "TIER_LIMIT_EXCEEDED");
    }
  });

  it("lets a test key revoke test keys only", async () => {
    const tenant = await app.createTenant("pro");
    const other = (await create(tenant, tenant.test, {})).body;
    const live = await idOf(tenant, "live");
    const refused = await app.call("DELETE", `keys/${live}`, { key: tenant.test });
    assert.match(expectError(refused, 401, "UNAUTHORIZED").suggestion, /only test keys. Send a live key/);
    assert.equal((await app.call("DELETE", `keys/${other.key.id}`, { key: tenant.test })).status, 200);
    assert.equal((await app.call("GET", "projects", { key: tenant.live })).status, 200);
    expectError(await app.call("GET", "projects", { key: other.secret }), 401, "UNAUTHORIZED");
  });

  it("keeps other projects out, those of the same account too", async () => {
    const tenant = await app.createTenant("pro");
    const stranger = await app.createTenant("pro");
    const sibling = (await app.call("POST", "projects", { key: tenant.live, body: { name: "sibling" } }))
      .body;
    for (const projectId of [stranger.projectId, sibling.project._id, createId(Date.now())]) {
      const foreign = `projects/${projectId}/keys`;
      const refused = await app.call("GET", foreign, { key: tenant.live });
      const error = expectError(refused, 401, "UNAUTHORIZED");
      assert.equal(error.message, "Invalid or missing API key: a key of another project.");
      assert.match(error.suggestion, /^The path contains a different project/);
      for (const body of [{}, { type: "wrong" }, "not json"]) {
        expectError(await app.call("POST", foreign, { key: tenant.live, body }), 401, "UNAUTHORIZED");
      }
    }
    const revoke = (id: string) => app.call("DELETE", `keys/${id}`, { key: tenant.live });
    const [foreign, unknown] = [await revoke(await idOf(stranger, "live")), await revoke(createId(1))];
    expectError(foreign, 404, "NOT_FOUND");
    assert.deepEqual(foreign.body, unknown.body);
    assert.equal((await list(stranger)).length, 1);
  });

  it("writes down when a key was used, at the latest when the server closes", async (t) => {
    const kept = await keepData(database);
    t.after(() => kept.remove());
    const first = await startApp({ database, reuse: kept.reuse });
    const { live, test, projectId } = first.owner;
    const keysOf = async (server: TestApp, key = live) =>
      (await server.call("GET", `projects/${projectId}/keys`, { key })).body.keys;
    const usedAt = Date.UTC(2031, 0, 2, 3, 4, 5, 6);
    first.clock.setTime(usedAt);
    assert.ok((await keysOf(first)).every((key: { lastUsedAt: unknown }) => key.lastUsedAt === null));
    await first.close();
    const second = await startApp({ database, reuse: kept.reuse });
    t.after(() => second.close());
    const [[used], [unused]] = [await keysOf(second), await keysOf(second, test)];
    assert.deepEqual([used.lastUsedAt, unused.lastUsedAt], [new Date(usedAt).toISOString(), null]);
  });
});
