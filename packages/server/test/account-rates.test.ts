import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { setOwnLimits } from "../src/projects/accounts/queries.ts";
import { createKeyFor } from "../src/projects/api-keys/api-keys.ts";
import { signInAs } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { type Answer, onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";

const hourMs = 3_600_000;

/** As an operator would, outside of every limit on making keys. */
async function makeKeys(app: TestApp, tenant: Tenant, count: number): Promise<string[]> {
  const secrets: string[] = [];
  for (let i = 0; i < count; i++) {
    const wanted = { projectId: tenant.projectId, type: "live", name: `key ${i}` } as const;
    secrets.push((await createKeyFor(app.app.deps, wanted)).secret);
  }
  return secrets;
}

const allowed = (answers: Answer[]) => answers.filter(({ status }) => status === 200);

function expectLimited(answer: Answer): void {
  const error = expectError(answer, 429, "RATE_LIMITED");
  const seconds = answer.headers.get("retry-after") ?? "";
  assert.match(seconds, /^[1-9]\d*$/);
  assert.ok(error.message.includes(`${seconds} seconds`), error.message);
}

onAnyDatabase("rate limits of an account", (database) => {
  it("are 20 times a key's, however many keys there are", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const tenant = await app.createTenant("enterprise");
    const keys = await makeKeys(app, tenant, 24);
    const answers = await Promise.all(
      keys.flatMap((key) => Array.from({ length: 10 }, () => app.call("GET", "usage", { key }))),
    );
    assert.equal(allowed(answers).length, 200);
    for (const answer of answers) if (answer.status !== 200) expectLimited(answer);
    const [fresh = ""] = await makeKeys(app, tenant, 1);
    const refused = await app.call("GET", "usage", { key: fresh });
    expectLimited(refused);
    assert.equal(refused.headers.get("ratelimit-policy"), '"other";q=200;w=60');
    assert.match(refused.headers.get("ratelimit") ?? "", /^"other";r=0;t=\d+$/);
    const upload = await app.call("POST", "upload/complete", { key: fresh, body: { fileId: "none" } });
    expectError(upload, 404, "NOT_FOUND");
    assert.equal(upload.headers.get("ratelimit-policy"), '"upload";q=30;w=60');
    const stranger = await app.createTenant("free");
    assert.equal((await app.call("GET", "usage", { key: stranger.live })).status, 200);
  });

  it("are not spent by a key that is over its own limit", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    const call = (key: string) => app.call("GET", "usage", { key });
    const answers = await Promise.all(Array.from({ length: 250 }, () => call(tenant.live)));
    assert.equal(allowed(answers).length, 10);
    const other = await Promise.all(Array.from({ length: 10 }, () => call(tenant.test)));
    assert.equal(allowed(other).length, 10);
  });

  it("are told once a window, with what raises them", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    const paths = ["usage", "files", "projects", "logs"];
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => app.call("GET", paths[i % 4] ?? "", { key: tenant.live })),
    );
    const lines = app.logLines.filter((line) => line.includes("reached the rate limit"));
    assert.equal(lines.length, 1, lines.join(""));
    assert.match(lines[0] ?? "", /UPSTOW_RATE_LIMITS/);
    assert.match(lines[0] ?? "", /set-limits/);
    assert.ok(!lines[0]?.includes(tenant.live));
    const call = await signInAs(app, tenant.accountId);
    const noted = async () =>
      (await call("GET", `/in/${tenant.projectId}/live/logs?type=rate.limited`)).body.logs;
    while ((await noted()).length === 0) await wait(20);
    const [entry, ...more] = await noted();
    assert.deepEqual(more, []);
    assert.match(entry.message, /10 requests per minute/);
  });

  it("follow UPSTOW_RATE_LIMITS where the account has none of its own", async (t) => {
    const env = { UPSTOW_RATE_LIMITS: "other=3,upload=2" };
    const app = await startApp({ database, keepRateLimits: true, env });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    const call = (key: string) => app.call("GET", "usage", { key });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(tenant.live)));
    assert.equal(allowed(answers).length, 3);
    assert.equal(answers[0]?.headers.get("ratelimit-policy"), '"other";q=3;w=60');
    const own = await app.createTenant("enterprise");
    const limits = { rateUpload: null, rateTransform: null, rateOther: 7, transformUnits: null };
    await app.app.deps.db.run(setOwnLimits, { id: own.accountId, ...limits, now: Date.now() });
    const theirs = await Promise.all(Array.from({ length: 20 }, () => call(own.live)));
    assert.equal(allowed(theirs).length, 7);
  });

  it("end with UPSTOW_RATE_LIMITS=off, but for accounts with limits of their own", async (t) => {
    const app = await startApp({ database, keepRateLimits: true, env: { UPSTOW_RATE_LIMITS: "off" } });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    const call = (key: string) => app.call("GET", "usage", { key });
    const answers = await Promise.all(Array.from({ length: 300 }, () => call(tenant.live)));
    assert.equal(allowed(answers).length, 300);
    assert.equal(answers[0]?.headers.get("ratelimit"), null);
    const own = await app.createTenant("enterprise");
    const limits = { rateUpload: null, rateTransform: null, rateOther: 7, transformUnits: null };
    await app.app.deps.db.run(setOwnLimits, { id: own.accountId, ...limits, now: Date.now() });
    const theirs = await Promise.all(Array.from({ length: 20 }, () => call(own.live)));
    assert.equal(allowed(theirs).length, 7);
  });
});

onAnyDatabase("the keys that an account makes in an hour", (database) => {
  it("are 60 at most, over API, dashboard and new projects together", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const tenant = await app.createTenant("enterprise");
    const path = `projects/${tenant.projectId}/keys`;
    const create = () => app.call("POST", path, { key: tenant.live, body: {} });
    const call = await signInAs(app, tenant.accountId);
    const createInDashboard = () => call("POST", `/in/${tenant.projectId}/live/${path}`, {});
    const withProject = () =>
      app.call("POST", "projects", { key: tenant.live, body: { name: "p", createKeys: ["live", "test"] } });
    assert.equal((await createInDashboard()).status, 201);
    const { status, body } = await withProject();
    assert.deepEqual([status, body.keys?.length], [201, 2]);
    const answers = await Promise.all(Array.from({ length: 80 }, create));
    const made = answers.filter((answer) => answer.status === 201);
    assert.equal(made.length, 57);
    for (const answer of answers) if (answer.status !== 201) expectLimited(answer);
    for (const { body: key } of made.slice(0, 20))
      await app.call("DELETE", `keys/${key.key.id}`, { key: tenant.live });
    expectLimited(await create());
    expectLimited(await createInDashboard());
    const count = async () => (await call("GET", "/projects")).body.projects.length;
    const before = await count();
    expectLimited(await withProject());
    assert.equal(await count(), before, "no project without its keys");
    await makeKeys(app, tenant, 1);
    const stranger = await app.createTenant("enterprise");
    const others = `projects/${stranger.projectId}/keys`;
    assert.equal((await app.call("POST", others, { key: stranger.live, body: {} })).status, 201);
    app.clock.advance(hourMs);
    assert.equal((await create()).status, 201);
  });

  it("do not include those that were refused", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const tenant = await app.createTenant("pro");
    const path = `projects/${tenant.projectId}/keys`;
    const create = () => app.call("POST", path, { key: tenant.live, body: {} });
    const answers = await Promise.all(Array.from({ length: 90 }, create));
    assert.equal(answers.filter((answer) => answer.status === 201).length, 9);
    expectError(await create(), 403, "TIER_LIMIT_EXCEEDED");
  });
});

describe("an account's limits on two instances", () => {
  it("are counted together, exactly", async (t) => {
    const { apps, close } = await startPair({ keepRateLimits: true });
    t.after(close);
    const tenant = await apps[0].createTenant("enterprise");
    const keys = await makeKeys(apps[0], tenant, 24);
    const answers = await Promise.all(
      keys.flatMap((key) =>
        Array.from({ length: 10 }, (_, i) => apps[i % 2 === 0 ? 0 : 1].call("GET", "usage", { key })),
      ),
    );
    assert.equal(allowed(answers).length, 200);
  });

  it("hold for making keys, too", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const tenant = await apps[0].createTenant("enterprise");
    const path = `projects/${tenant.projectId}/keys`;
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        apps[i % 2 === 0 ? 0 : 1].call("POST", path, { key: tenant.live, body: {} }),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 201).length, 60);
  });
});
