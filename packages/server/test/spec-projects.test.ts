import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { TIERS } from "@upstow/contract";
import { createId } from "../src/kernel/ids.ts";
import { isApiKey } from "../src/kernel/security/api-key-secret.ts";
import { listRoutes } from "../src/projects/file-routes/queries.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";

const listFields = ["_id", "name", "slug", "userId", "createdAt"];
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

onBothDatabases("projects", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const create = (key: string, name: string) => app.call("POST", "projects", { key, body: { name } });

  it("creates with 201 and exactly the fields of a project, and a route that takes everything", async () => {
    const tenant = await app.createTenant("pro");
    const { status, body } = await create(tenant.live, "Überschall & Söhne");
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), ["project"]);
    assert.deepEqual(Object.keys(body.project), [...listFields, "updatedAt"]);
    assert.match(body.project.slug, /^uberschall-sohne-[0-9a-z]{8}$/);
    assert.equal(body.project.userId, tenant.accountId);
    assert.match(body.project.createdAt, isoTime);
    assert.equal(body.project.updatedAt, body.project.createdAt);
    const [route, ...others] = await app.app.deps.db.all(listRoutes, {
      projectId: body.project._id,
      before: "~",
      take: 10,
    });
    assert.equal(others.length, 0);
    assert.deepEqual([route?.slug, route?.allowed_types, route?.environment], ["default", "[]", "all"]);
  });

  it("gives a name without letters a slug all the same", async () => {
    const tenant = await app.createTenant("pro");
    for (const name of ["写真", "!!!", " "]) {
      const { body } = await create(tenant.live, name);
      assert.match(body.project.slug, /^project-[0-9a-z]{8}$/);
      assert.equal(body.project.name, name);
    }
  });

  it("counts a name's length in code points, from 1 to 100", async () => {
    const tenant = await app.createTenant("pro");
    const astral = "😀".repeat(100);
    assert.equal((await create(tenant.live, astral)).body.project.name, astral);
    expectInvalid(await create(tenant.live, `${astral}a`), "name");
    expectInvalid(await create(tenant.live, ""), "name");
    for (const body of [{}, { name: null }, { name: 12 }, { name: ["a"] }, { Name: "x" }]) {
      expectInvalid(await app.call("POST", "projects", { key: tenant.live, body }), "name");
    }
    expectInvalid(await app.call("POST", "projects", { key: tenant.live }), "name");
    for (const body of ["null", "[]", '"x"', "1", "true"]) {
      expectInvalid(await app.call("POST", "projects", { key: tenant.live, body }), "body");
    }
  });

  it("ignores unknown fields and lets nobody set what is not theirs", async () => {
    const tenant = await app.createTenant("pro");
    const body = {
      name: "n",
      _id: "mine",
      id: "mine",
      slug: "mine",
      userId: app.owner.accountId,
      key_count: -9,
    };
    const created = await app.call("POST", "projects", { key: tenant.live, body });
    assert.equal(created.status, 201);
    const { project } = created.body;
    assert.equal(project.userId, tenant.accountId);
    assert.notEqual(project._id, "mine");
    assert.match(project.slug, /^n-/);
    const path = `projects/${project._id}`;
    const changed = await app.call("PATCH", path, { key: tenant.live, body: { ...body, name: "m" } });
    const { imageWidths: _, imageQualities: __, imagePresets: ___, ...fields } = changed.body.project;
    assert.deepEqual(fields, {
      ...project,
      trashDays: 0,
      name: "m",
      updatedAt: changed.body.project.updatedAt,
    });
  });

  it("lists the account's projects newest first, without updatedAt, to any of its keys", async () => {
    const tenant = await app.createTenant("pro");
    const first = await create(tenant.live, "first");
    app.clock.advance(5);
    const second = await create(tenant.live, "second");
    const { status, body } = await app.call("GET", "projects", { key: tenant.test });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["projects"]);
    for (const project of body.projects) assert.deepEqual(Object.keys(project), listFields);
    const names = body.projects.map((project: { name: string }) => project.name);
    assert.deepEqual(names, ["second", "first", "tenant"]);
    assert.equal(body.projects[1]._id, first.body.project._id);
    assert.equal(second.status, 201);
  });

  it("lets a test key create, change and delete none", async () => {
    const tenant = await app.createTenant("pro");
    const path = `projects/${tenant.projectId}`;
    for (const [method, target, body] of [
      ["POST", "projects", { name: "x" }],
      ["POST", "projects", { name: 5 }],
      ["PATCH", path, { name: "renamed" }],
      ["PATCH", path, {}],
      ["DELETE", path, undefined],
      ["DELETE", "projects/unknown", undefined],
    ] as const) {
      const refused = await app.call(method, target, { key: tenant.test, body });
      assert.match(
        expectError(refused, 401, "UNAUTHORIZED").message,
        /^Invalid or missing API key: a test key cannot \w+ projects\.$/,
      );
    }
    const { body } = await app.call("GET", "projects", { key: tenant.test });
    assert.deepEqual(
      body.projects.map((project: { name: string }) => project.name),
      ["tenant"],
    );
  });

  it("creates the keys that are asked for, whose secrets a replay omits", async () => {
    const tenant = await app.createTenant("free");
    const headers = { "idempotency-key": "with-keys" };
    const call = () =>
      app.call("POST", "projects", {
        key: tenant.live,
        body: { name: "made", createKeys: ["test", "live"] },
        headers,
      });
    const { status, body } = await call();
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body), ["project", "keys"]);
    for (const [i, type] of ["test", "live"].entries()) {
      const key = body.keys[i];
      assert.deepEqual(Object.keys(key), ["id", "type", "prefix", "secret"]);
      assert.equal(key.type, type);
      assert.ok(isApiKey(key.secret) && key.secret.startsWith(key.prefix.slice(0, -1)));
      const listed = await app.call("GET", `projects/${body.project._id}/keys`, { key: key.secret });
      assert.deepEqual(
        listed.body.keys.map((found: { id: string }) => found.id),
        [key.id],
      );
      assert.equal((await app.call("GET", "usage", { key: key.secret })).status, 200);
    }
    const again = await call();
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    const masked = body.keys.map(({ secret: _, ...key }: { secret: string }) => key);
    assert.deepEqual(again.body, { project: body.project, keys: masked });
  });

  it("refuses wrong lists of keys, and creates nothing then", async () => {
    const tenant = await app.createTenant("pro");
    const withKeys = (createKeys: unknown, key = tenant.live) =>
      app.call("POST", "projects", { key, body: { name: "x", createKeys } });
    for (const wrong of [["live", "live"], "live", null, {}, ["live", "test", "live"]])
      expectInvalid(await withKeys(wrong), "createKeys");
    expectInvalid(await withKeys(["prod"]), "createKeys.0");
    expectError(await withKeys(["test"], tenant.test), 401, "UNAUTHORIZED");
    const { body } = await app.call("GET", "projects", { key: tenant.live });
    assert.equal(body.projects.length, 1);
    const one = await withKeys(["test"]);
    assert.deepEqual(
      one.body.keys.map((key: { type: string }) => key.type),
      ["test"],
    );
    assert.deepEqual((await withKeys([])).body.keys, []);
  });

  it("renames without touching the slug, and changes nothing for an empty body", async () => {
    const tenant = await app.createTenant("free");
    const path = `projects/${tenant.projectId}`;
    const before = (await app.call("GET", path, { key: tenant.live })).body.project;
    app.clock.advance(10);
    const renamed = (await app.call("PATCH", path, { key: tenant.live, body: { name: "Other" } })).body
      .project;
    assert.deepEqual({ ...renamed, name: before.name, updatedAt: before.updatedAt }, before);
    assert.ok(renamed.updatedAt > before.updatedAt);
    for (const options of [{ body: {} }, { body: { slug: "x" } }, {}]) {
      const same = await app.call("PATCH", path, { key: tenant.live, ...options });
      assert.deepEqual([same.status, same.body.project], [200, renamed]);
    }
    expectInvalid(await app.call("PATCH", path, { key: tenant.live, body: { name: null } }), "name");
    expectInvalid(
      await app.call("PATCH", path, { key: tenant.live, body: { name: "x".repeat(101) } }),
      "name",
    );
  });

  it("answers for a foreign project exactly as for one that does not exist", async () => {
    const [mine, foreign] = [await app.createTenant("free"), await app.createTenant("free")];
    const unknown = createId(Date.now());
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["PATCH", {}], ["DELETE"]] as const) {
      const call = (id: string) => app.call(method, `projects/${id}`, { key: mine.live, body });
      const [toForeign, toUnknown] = [await call(foreign.projectId), await call(unknown)];
      expectError(toForeign, 404, "NOT_FOUND");
      assert.deepEqual(toForeign.body, toUnknown.body);
    }
    assert.equal((await app.call("GET", "projects", { key: foreign.live })).body.projects.length, 1);
  });

  it("deletes: keys are revoked, the project is gone, its place is free, its routes stay", async () => {
    const tenant = await app.createTenant("free");
    const second = await create(tenant.live, "second");
    expectError(await create(tenant.live, "third"), 403, "TIER_LIMIT_EXCEEDED");
    const path = `projects/${second.body.project._id}`;
    const deleted = await app.call("DELETE", path, { key: tenant.live });
    assert.deepEqual([deleted.status, deleted.body], [200, { ok: true }]);
    for (const method of ["GET", "DELETE"]) {
      expectError(await app.call(method, path, { key: tenant.live }), 404, "NOT_FOUND");
    }
    expectError(await app.call("PATCH", path, { key: tenant.live, body: { name: "x" } }), 404, "NOT_FOUND");
    assert.equal((await app.call("GET", "projects", { key: tenant.live })).body.projects.length, 1);
    assert.equal((await create(tenant.live, "again")).status, 201);
    const routes = await app.app.deps.db.all(listRoutes, {
      projectId: second.body.project._id,
      before: "~",
      take: 10,
    });
    assert.equal(routes.length, 1);

    const own = `projects/${tenant.projectId}`;
    const byTest = await app.call("DELETE", own, { key: tenant.test });
    assert.match(expectError(byTest, 401, "UNAUTHORIZED").suggestion, /Send a live key/);
    assert.equal((await app.call("DELETE", own, { key: tenant.live })).status, 200);
    for (const key of [tenant.live, tenant.test]) {
      expectError(await app.call("GET", "projects", { key }), 401, "UNAUTHORIZED");
    }
  });

  it("lets one of 20 concurrent deletions win", async () => {
    const tenant = await app.createTenant("free");
    const { body } = await create(tenant.live, "doomed");
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        app.call("DELETE", `projects/${body.project._id}`, { key: tenant.live }),
      ),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array(19).fill(404)]);
    assert.equal((await create(tenant.live, "one more")).status, 201);
    expectError(await create(tenant.live, "too many"), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("holds each tier's limit, against 100 concurrent creations too", async () => {
    for (const tier of ["free", "pro"] as const) {
      const tenant = await app.createTenant(tier);
      const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => create(tenant.live, `p${i}`)));
      const refused = answers.filter((answer) => answer.status !== 201);
      for (const answer of refused) expectError(answer, 403, "TIER_LIMIT_EXCEEDED");
      const list = await app.call("GET", "projects", { key: tenant.live });
      assert.equal(list.body.projects.length, TIERS[tier].projects);
      assert.equal(answers.length - refused.length, list.body.projects.length - 1);
    }
    for (let i = 0; i < 60; i++) assert.equal((await create(app.owner.live, `e${i}`)).status, 201);
  });
});
