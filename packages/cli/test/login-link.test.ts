import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { createId } from "../../server/src/kernel/ids.ts";
import { insertInvitedAccount } from "../../server/src/projects/accounts/queries.ts";
import { signInAs } from "../../server/test/support/console-client.ts";
import { onAnyDatabase, startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { envOf, runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

const password = "correct horse battery";

onAnyDatabase("upstow account login-link", (database) => {
  let app: TestApp;
  let env: Record<string, string>;
  before(async () => {
    app = await startApp({ database });
    env = envOf(app);
  });
  after(() => app.close());

  const call = (path: string, body: unknown) =>
    app.call("POST", `/dashboard/api${path}`, { body, headers: { origin: app.url } });
  const tokenOf = (link: string) => link.split("#")[1] ?? "";

  it("lets an account in once, with a new password, and ends its other sessions", async () => {
    const { accountId, email } = await app.createTenant("pro");
    const before = await signInAs(app, accountId);
    assert.equal((await before("GET", "/session")).status, 200);
    const made = await runJson(["account", "login-link", "--email", email.toUpperCase()], env);
    assert.deepEqual(Object.keys(made), ["id", "email", "link", "expiresAt"]);
    assert.equal(made.id, accountId);
    assert.ok(made.link.startsWith(`${app.app.deps.config.publicUrl}/dashboard/claim#`));
    const token = tokenOf(made.link);
    assert.equal((await call("/claim/look", { token })).body.email, email);
    assert.equal((await call("/claim", { token, email, password })).status, 200);
    assert.equal((await before("GET", "/session")).status, 401);
    assert.equal((await call("/claim", { token, email, password })).status, 403);
    assert.equal((await call("/claim/look", { token })).status, 403);
  });

  it("is for the installation's owner where nobody is named", async () => {
    const run = await runUpstow(["account", "login-link"], env);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /for owner@localhost, valid once, until \d{4}-/);
    const token = tokenOf(run.stdout.trim());
    assert.equal((await call("/claim/look", { token })).body.email, null);
  });

  it("says what opening it removes, and that an address is unverified", async () => {
    const { email } = await app.createTenant("pro");
    const known = await runUpstow(["account", "login-link", "--email", email], env);
    assert.match(known.stdout, /removes the account's passkeys, one-time codes and recovery codes/);
    assert.ok(!known.stdout.includes("unverified"));
    const id = createId(Date.now());
    const invited = { id, email: `${id}@example.com`, passwordHash: "none", now: Date.now() };
    await app.app.deps.db.change(insertInvitedAccount, invited);
    const run = await runUpstow(["account", "login-link", "--email", invited.email], env);
    assert.match(run.stdout, /The email address is unverified/);
    assert.equal(
      (await call("/claim/look", { token: tokenOf(run.stdout.trim()) })).body.email,
      invited.email,
    );
  });

  it("lets an invited account own projects once its tier was set", async () => {
    const id = createId(Date.now());
    const email = `${id}@example.com`;
    await app.app.deps.db.change(insertInvitedAccount, { id, email, passwordHash: "none", now: Date.now() });
    const create = ["project", "create", "--account", email, "--name", "mine"];
    const failed = await runFailing(create, env);
    assert.deepEqual([failed.exitCode, failed.code], [1, "TIER_LIMIT_EXCEEDED"]);
    assert.equal((await runJson(["account", "set-tier", email, "free"], env)).tier, "free");
    assert.equal((await runJson(create, env)).name, "mine");
  });

  it("names an address that has no account", async () => {
    const failed = await runFailing(["account", "login-link", "--email", "nobody@example.com"], env);
    assert.deepEqual([failed.exitCode, failed.code], [1, "NOT_FOUND"]);
  });
});
