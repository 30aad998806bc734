import assert from "node:assert/strict";
import { after, before, it, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { statement } from "../src/db/statement.ts";
import { answerErrorsInEnvelope } from "../src/http/error-handler.ts";
import { honourIdempotencyKeys, type Idempotency } from "../src/http/idempotency.ts";
import { deleteOldCalls } from "../src/http/idempotency-queries.ts";
import { acceptJsonBodies } from "../src/http/json-body.ts";
import { createHttpFrame } from "../src/http/server.ts";
import type { Actor } from "../src/kernel/actor.ts";
import { AppError } from "../src/kernel/errors.ts";
import { parseCidrList } from "../src/kernel/net/cidr-list.ts";
import { dumpData } from "./support/dump-data.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { type Answer, onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

const dayMs = 24 * 60 * 60 * 1000;
const listCalls = statement((q, _: object) => q.selectFrom("idempotency").selectAll());
const ageCalls = statement((q, p: { createdAt: number }) =>
  q.updateTable("idempotency").set({ created_at: p.createdAt }),
);
const abandonCalls = statement((q, p: { leaseUntil: number }) =>
  q.updateTable("idempotency").set({ status: null, response: null, lease_until: p.leaseUntil }),
);

onBothDatabases("Idempotency-Key", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("enterprise");
  });
  after(() => app.close());
  const create = (id: string, body: unknown = { name: "n" }, key = tenant.live) =>
    app.call("POST", "projects", { key, body, headers: { "idempotency-key": id } });
  const countProjects = async () =>
    (await app.call("GET", "projects", { key: tenant.live })).body.projects.length;
  const isReplay = (answer: Answer) => answer.headers.get("idempotency-replayed") === "true";

  it("replays the first answer to the same body, and refuses another", async () => {
    const first = await create("replayed");
    const before = await countProjects();
    const second = await create("replayed");
    assert.deepEqual([second.status, second.body, isReplay(second)], [201, first.body, true]);
    assert.equal(isReplay(first), false);
    expectInvalid(await create("replayed", { name: "other" }), "Idempotency-Key");
    expectInvalid(await create("replayed", '{ "name": "n" }'), "Idempotency-Key");
    assert.equal(await countProjects(), before);
  });

  it("does the work once for 20 calls at the same time, and tells all the same", async () => {
    const before = await countProjects();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create("raced")));
    assert.equal(await countProjects(), before + 1);
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]));
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, 1);
    assert.equal(answers.filter(isReplay).length, 19);
  });

  it("counts for one key, one method and one path", async () => {
    const sibling = (
      await app.call("POST", `projects/${tenant.projectId}/keys`, { key: tenant.live, body: {} })
    ).body;
    const made = [await create("scoped"), await create("scoped", { name: "n" }, sibling.secret)];
    assert.notEqual(made[0]?.body.project._id, made[1]?.body.project._id);
    const headers = { "idempotency-key": "scoped" };
    const route = await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug: "scoped" },
      headers,
    });
    assert.equal(route.status, 201);
    const options = { key: tenant.live, headers, body: { name: "renamed" } };
    const renamed = await app.call("PATCH", `projects/${made[0]?.body.project._id}`, options);
    assert.equal(renamed.body.project.name, "renamed", "only POST is idempotent by key");
  });

  it("keeps refusals, but neither 400s of a malformed call nor anything that may succeed later", async () => {
    const path = `projects/${tenant.projectId}/routers`;
    const post = (id: string, body: object) =>
      app.call("POST", path, { key: tenant.live, body, headers: { "idempotency-key": id } });
    await app.call("POST", path, { key: tenant.live, body: { slug: "taken" } });
    const refused = await post("refused", { slug: "taken" });
    expectError(refused, 409, "DUPLICATE_SLUG");
    const { routers } = (await app.call("GET", path, { key: tenant.live })).body;
    const { id } = routers.find((router: { slug: string }) => router.slug === "taken");
    await app.call("DELETE", `routers/${id}`, { key: tenant.live });
    const again = await post("refused", { slug: "taken" });
    assert.deepEqual([again.status, again.body, isReplay(again)], [409, refused.body, true]);
    expectInvalid(await create("corrected", { name: "" }), "name");
    assert.equal((await create("corrected", { name: "right" })).status, 201);
  });

  /** A call of its own, beside those of the service. */
  function serve(t: TestContext, id: string, answer: (idempotency: Idempotency) => Promise<object>) {
    const { db, log } = app.app.deps;
    const http = createHttpFrame({ tls: null, trustedProxies: parseCidrList(""), logger: log });
    t.after(() => http.close());
    answerErrorsInEnvelope(http, log);
    acceptJsonBodies(http);
    http.addHook("onRequest", (request, _reply, done) => {
      request.actor = { keyId: tenant.projectId } as Actor;
      done();
    });
    honourIdempotencyKeys(http, { db, log });
    http.post("/", ({ idempotency }) => answer(idempotency));
    const headers = { "idempotency-key": id };
    return () => http.inject({ method: "POST", url: "/", headers, payload: {} });
  }

  it("keeps the refusal of a call whose transaction was undone after it had remembered an answer", async (t) => {
    const call = serve(t, "undone", (idempotency) =>
      app.app.deps.db.transact(async (tx) => {
        await idempotency.remember(tx, 200, {});
        throw new AppError("TIER_LIMIT_EXCEEDED", "Somebody else took the last place.");
      }),
    );
    const [first, second] = [await call(), await call()];
    assert.equal(first.json().error.code, "TIER_LIMIT_EXCEEDED");
    assert.deepEqual([second.statusCode, second.json()], [first.statusCode, first.json()]);
    assert.equal(second.headers["idempotency-replayed"], "true");
  });

  it("does not keep a 500: the same call may succeed later", async (t) => {
    let isBroken = true;
    const call = serve(t, "broken", async (idempotency) => {
      if (isBroken) throw new Error("a fault inside");
      return app.app.deps.db.transact(async (tx) => {
        await idempotency.remember(tx, 200, { done: true });
        return { done: true };
      });
    });
    assert.equal((await call()).json().error.code, "INTERNAL_ERROR");
    isBroken = false;
    const second = await call();
    assert.deepEqual([second.statusCode, second.json()], [200, { done: true }]);
    assert.equal(second.headers["idempotency-replayed"], undefined);
  });

  it("keeps the place of a call that makes many transactions, and ends one that has lost it", async (t) => {
    const { db } = app.app.deps;
    const isOver = Date.now() - 1000;
    const held = serve(t, "held", async ({ hold }) => {
      await db.run(abandonCalls, { leaseUntil: isOver });
      await db.transact(hold);
      const calls = await db.all(listCalls, {});
      return calls.filter((call) => call.lease_until > isOver);
    });
    assert.equal((await held()).json().length, 1);

    let runs = 0;
    const lost = serve(t, "lost", async ({ hold }) => {
      runs += 1;
      if (runs === 2) return {};
      await db.run(abandonCalls, { leaseUntil: isOver });
      await lost();
      await db.transact(hold);
      return assert.fail("another call took its place");
    });
    assert.equal((await lost()).json().error.code, "SERVICE_UNAVAILABLE");
  });

  it("keeps the place of a call in progress by a short lease, renewed for as long as it takes", async (t) => {
    const { db } = app.app.deps;
    // Other tests have left calls without an answer, whose leases are over.
    const findOpen = async () => {
      const [latest] = (await db.all(listCalls, {})).sort((a, b) => b.lease_until - a.lease_until);
      return latest ?? assert.fail("no call is in progress");
    };
    let runs = 0;
    const slow = serve(t, "slow", async () => {
      runs += 1;
      const first = await findOpen();
      assert.ok(
        first.lease_until - first.created_at < 10_000,
        "its successor would wait longer after a crash",
      );
      while ((await findOpen()).lease_until <= first.lease_until + 1000) await wait(50);
      return {};
    });
    const answers = await Promise.all([slow(), slow()]);
    assert.deepEqual([runs, ...answers.map((answer) => answer.statusCode)], [1, 200, 200]);
  });

  it("stores no secret: a replayed key creation leaves it out", async () => {
    const make = () =>
      app.call("POST", `projects/${tenant.projectId}/keys`, {
        key: tenant.live,
        body: {},
        headers: { "idempotency-key": "secretive" },
      });
    const [first, second] = [await make(), await make()];
    assert.deepEqual(Object.keys(first.body), ["key", "secret"]);
    assert.deepEqual([second.status, second.body], [201, { key: first.body.key }]);
    const rows = JSON.stringify(await app.app.deps.db.all(listCalls, {}));
    assert.ok(rows.includes(first.body.key.id));
    assert.ok(!rows.includes(first.body.secret) && !(await dumpData(app)).includes(first.body.secret));
    assert.ok(!rows.includes("secretive"), "the caller's key is kept as a hash");
  });

  it("takes over from a server that died in the middle, once its lease has ended", async () => {
    const first = await create("crashed");
    await app.app.deps.db.run(abandonCalls, { leaseUntil: Date.now() - 1000 });
    const second = await create("crashed");
    assert.equal(second.status, 201);
    assert.notEqual(
      second.body.project._id,
      first.body.project._id,
      "nothing was recorded, so the work is done",
    );
    assert.deepEqual((await create("crashed")).body, second.body);
  });

  it("forgets after 24 hours", async () => {
    const { db } = app.app.deps;
    const first = await create("old");
    await db.run(ageCalls, { createdAt: Date.now() - dayMs + 60_000 });
    assert.deepEqual((await create("old")).body, first.body);
    await db.run(ageCalls, { createdAt: Date.now() - dayMs - 1000 });
    const afresh = await create("old", { name: "another body" });
    assert.equal(afresh.body.project.name, "another body");
    await db.run(ageCalls, { createdAt: Date.now() - dayMs - 1000 });
    await db.run(deleteOldCalls, { take: 500 });
    assert.equal((await db.all(listCalls, {})).length, 0);
  });

  it("refuses keys that are none", async () => {
    for (const id of ["", "a b", "x".repeat(256), "\u00e9", "a\tb"]) {
      expectInvalid(await create(id), "Idempotency-Key");
    }
    assert.equal((await create("!".repeat(255))).status, 201);
  });

  it("does not keep a 429", async (t) => {
    const limited = await startApp({ database, keepRateLimits: true });
    t.after(() => limited.close());
    const { live, projectId } = await limited.createTenant("pro");
    for (let i = 0; i < 10; i++) await limited.call("GET", "usage", { key: live });
    const headers = { "idempotency-key": "limited" };
    const post = () =>
      limited.call("POST", `projects/${projectId}/routers`, { key: live, body: { slug: "s" }, headers });
    expectError(await post(), 429, "RATE_LIMITED");
    assert.equal((await limited.app.deps.db.all(listCalls, {})).length, 0);
  });
});
