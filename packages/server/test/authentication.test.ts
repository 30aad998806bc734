import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createApiKeySecret } from "../src/kernel/security/api-key-secret.ts";
import { dumpData } from "./support/dump-data.ts";
import { expectError } from "./support/expect-error.ts";
import { requestHead, sendRaw } from "./support/raw-http.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";

onBothDatabases("authentication", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const get = (lines: string[], path = "/api/v1/projects") =>
    sendRaw(app.url, requestHead("GET", path, lines));

  it("takes exactly 'Bearer', one space and the key", async () => {
    const { live, test } = app.owner;
    for (const key of [live, test]) assert.equal((await get([`Authorization: Bearer ${key}`])).status, 200);
    assert.equal((await get([`AUTHORIZATION: Bearer ${live}`])).status, 200);
    const besideOneAsLong = ["Cache-Control: no-cache", `Authorization: Bearer ${live}`];
    assert.equal((await get(besideOneAsLong)).status, 200);
    const refused: Record<string, string[]> = {
      "no header": [],
      "an empty header": ["Authorization: "],
      "no key": ["Authorization: Bearer"],
      "no scheme": [`Authorization: ${live}`],
      "a lower-case scheme": [`Authorization: bearer ${live}`],
      "an upper-case scheme": [`Authorization: BEARER ${live}`],
      "two spaces": [`Authorization: Bearer  ${live}`],
      "a tab": [`Authorization: Bearer\t${live}`],
      "no space": [`Authorization: Bearer${live}`],
      "another scheme": [`Authorization: Basic ${Buffer.from(`${live}:`).toString("base64")}`],
      "a colon": [`Authorization: Bearer: ${live}`],
      quotes: [`Authorization: Bearer "${live}"`],
      "two keys": [`Authorization: Bearer ${live} ${live}`],
      "a list": [`Authorization: Bearer ${live}, Bearer ${live}`],
      "two equal headers": [`Authorization: Bearer ${live}`, `Authorization: Bearer ${live}`],
      "a good and a bad header": [`Authorization: Bearer ${live}`, "Authorization: Bearer x"],
      "a bad and a good header": ["Authorization: Bearer x", `Authorization: Bearer ${live}`],
      "x-api-key": [`X-Api-Key: ${live}`],
      "a cookie": [`Cookie: authorization=Bearer ${live}; session=${live}`],
      "proxy-authorization": [`Proxy-Authorization: Bearer ${live}`],
    };
    const withoutKey = ["no header", "x-api-key", "a cookie", "proxy-authorization"];
    for (const [what, lines] of Object.entries(refused)) {
      const answer = await get(lines);
      assert.equal(answer.status, 401, what);
      const { message } = expectError(answer, 401, "UNAUTHORIZED");
      const reason = withoutKey.includes(what) ? "no key was sent" : "the key is malformed";
      assert.equal(message, `Invalid or missing API key: ${reason}.`, what);
      assert.ok(!JSON.stringify(answer.body).includes(live), "a key is never repeated");
    }
    for (const name of ["api_key", "key", "access_token", "authorization"]) {
      expectError(await get([], `/api/v1/projects?${name}=${live}`), 401, "UNAUTHORIZED");
    }
  });

  it("refuses keys that are not exactly one that was made", async () => {
    const { live } = app.owner;
    const flipped = (at: number) => live.slice(0, at) + (live[at] === "a" ? "b" : "a") + live.slice(at + 1);
    const wrong = [
      createApiKeySecret("live").secret,
      live.replace("live", "test"),
      live.replace("svc", "SVC"),
      live.slice(0, -1),
      `${live}a`,
      live.toLowerCase(),
      ...Array.from({ length: live.length - "svc_live_".length }, (_, i) => flipped(i + "svc_live_".length)),
      `${live}%00`,
      "a".repeat(10_000),
    ];
    for (const key of wrong) expectError(await app.call("GET", "projects", { key }), 401, "UNAUTHORIZED");
    const messageFor = async (key: string) =>
      expectError(await app.call("GET", "projects", { key }), 401, "UNAUTHORIZED").message;
    const unknown = "Invalid or missing API key: the key is revoked or unknown.";
    assert.equal(await messageFor(createApiKeySecret("live").secret), unknown);
    assert.equal(await messageFor(flipped(20)), "Invalid or missing API key: the key is malformed.");
    const tenant = await app.createTenant("pro");
    const path = `projects/${tenant.projectId}/keys`;
    const { body } = await app.call("POST", path, { key: tenant.live, body: {} });
    await app.call("DELETE", `keys/${body.key.id}`, { key: tenant.live });
    assert.equal(await messageFor(body.secret), unknown);
  });

  it("settles who calls before it looks at what is asked", async () => {
    const { projectId } = app.owner;
    const calls = [
      ["POST", "projects", "{"],
      ["POST", "projects", JSON.stringify({ name: 5 })],
      ["PATCH", `projects/${projectId}`, "[]"],
      ["POST", `projects/${projectId}/keys`, "{}"],
      ["GET", "logs?limit=0"],
      ["GET", "logs?cursor=x"],
      ["DELETE", "keys/unknown"],
      ["GET", "usage/history?months=x"],
    ] as const;
    for (const [method, path, body] of calls) {
      expectError(await app.call(method, path, { body }), 401, "UNAUTHORIZED");
    }
    const huge = { "content-type": "text/html", "idempotency-key": "\u00e9" };
    expectError(
      await app.call("POST", "projects", { body: "x".repeat(99), headers: huge }),
      401,
      "UNAUTHORIZED",
    );
  });

  it("keeps no key in the database, the data directory or the log", async () => {
    const tenant = await app.createTenant("enterprise");
    const path = `projects/${tenant.projectId}/keys`;
    const headers = { "idempotency-key": "make-a-key" };
    const made = await app.call("POST", path, { key: tenant.live, body: {}, headers });
    await app.call("GET", `projects?key=${made.body.secret}`, { key: made.body.secret });
    await app.call("GET", `${made.body.secret}`, { key: made.body.secret });
    await app.call("DELETE", `keys/${made.body.key.id}`, { key: made.body.secret });
    await app.call("GET", "projects", { key: made.body.secret });
    const { live, test } = app.owner;
    const stored = await dumpData(app);
    const logged = app.logLines.join("");
    assert.ok(stored.includes(made.body.key.id) && logged.includes('"route":"/api/v1/projects"'));
    for (const secret of [live, test, tenant.live, tenant.test, made.body.secret]) {
      const random = secret.slice("svc_live_".length);
      assert.ok(!stored.includes(random), "a key is stored");
      assert.ok(!logged.includes(random), "a key is logged");
    }
    assert.ok(!logged.includes("Bearer"));
  });
});

describe("two instances on one PostgreSQL", () => {
  it("know each other's keys and revocations at once", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    const [first, second] = apps;
    const key = first.owner.live;
    for (let i = 0; i < 10; i++) {
      const made = (await first.call("POST", `projects/${first.owner.projectId}/keys`, { key, body: {} }))
        .body;
      assert.equal((await second.call("GET", "usage", { key: made.secret })).status, 200);
      await first.call("DELETE", `keys/${made.key.id}`, { key });
      expectError(await second.call("GET", "usage", { key: made.secret }), 401, "UNAUTHORIZED");
    }
  });
});
