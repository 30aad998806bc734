import assert from "node:assert/strict";
import { it } from "node:test";
import { DatabaseUnavailable } from "../src/db/database.ts";
import { expectError } from "./support/expect-error.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";

onBothDatabases("failures", (database) => {
  it("hide what broke inside behind a 500, and log it under the answer's request id", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    await app.app.deps.db.migrate((tx) => tx.script("DROP TABLE usage_period"));
    const answer = await app.call("GET", "usage", { key: app.owner.live });
    const error = expectError(answer, 500, "INTERNAL_ERROR");
    assert.doesNotMatch(JSON.stringify(error), /usage_period|table|relation|sql/i);
    const line = app.logLines.find((logged) => logged.includes("usage_period")) ?? "{}";
    assert.equal(JSON.parse(line).requestId, answer.headers.get("x-request-id"));
    assert.equal((await app.call("GET", "projects", { key: app.owner.live })).status, 200);
  });

  it("answer 503 with Retry-After when the database goes away, also in the middle of an idempotent call", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const { db } = app.app.deps;
    const { transact, run, get, check } = db;
    const away = async () => {
      throw new DatabaseUnavailable("secret detail");
    };
    const expectAway = async (options: { headers?: Record<string, string> } = {}) => {
      const call = { key: app.owner.live, body: { name: "x" }, ...options };
      const answer = await app.call("POST", "projects", call);
      const error = expectError(answer, 503, "SERVICE_UNAVAILABLE");
      assert.doesNotMatch(JSON.stringify(error), /secret detail/);
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    };
    const headers = { "idempotency-key": "once" };
    // From the claim on: neither the work nor giving the claim back succeeds.
    Object.assign(db, { transact: away, run: away });
    await expectAway({ headers });
    Object.assign(db, { get: away, check: away });
    await expectAway();

    assert.equal((await app.call("GET", "/healthz")).status, 200);
    const probed = await app.call("GET", "/readyz");
    const error = expectError(probed, 503, "SERVICE_UNAVAILABLE");
    assert.equal(error.message, "Not ready: database unavailable.");
    assert.match(probed.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    Object.assign(db, { transact, run, get, check });
    assert.equal((await app.call("GET", "/readyz")).status, 200);
    const list = await app.call("GET", "projects", { key: app.owner.live });
    assert.equal(list.body.projects.length, 1, "nothing is half done");
  });
});
