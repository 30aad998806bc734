import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { verifyPassword } from "../../server/src/kernel/security/passwords.ts";
import { findAccountByEmail } from "../../server/src/projects/accounts/queries.ts";
import { onAnyDatabase, startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUploadClient } from "../../server/test/support/upload-client.ts";
import { envOf, readAll, runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

onAnyDatabase("operator commands beside a running service", (database) => {
  let app: TestApp;
  let env: Record<string, string>;
  before(async () => {
    app = await startApp({ database, keepRateLimits: true });
    env = envOf(app);
  });
  after(() => app.close());

  const createAccount = (email: string, tier: string) =>
    runJson(["account", "create", "--email", email, "--tier", tier], env);
  const createProject = (email: string, name = "Shop") =>
    runJson(["project", "create", "--account", email, "--name", name], env);
  const createKey = (project: string, type = "live") =>
    runJson(["key", "create", "--project", project, "--type", type], env);
  const policyOf = async (key: string) =>
    (await app.call("GET", "projects", { key })).headers.get("ratelimit-policy");

  it("makes account, project and key that work at once, in the shapes of the contract", async () => {
    const account = await createAccount(" Ann@Example.COM ", "pro");
    assert.deepEqual(Object.keys(account), ["id", "email", "tier"]);
    assert.deepEqual([account.email, account.tier], ["ann@example.com", "pro"]);
    const project = await createProject("ANN@example.com");
    assert.deepEqual(Object.keys(project), ["id", "name", "slug"]);
    assert.match(project.slug, /^shop-[0-9a-z]{8}$/);
    for (const type of ["live", "test"]) {
      const key = await createKey(project.id, type);
      assert.deepEqual(Object.keys(key), ["id", "secret", "prefix", "type", "projectId"]);
      assert.deepEqual([key.type, key.projectId], [type, project.id]);
      assert.ok(key.secret.startsWith(key.prefix.slice(0, -1)));
      const list = await app.call("GET", "projects", { key: key.secret });
      assert.equal(list.body.projects[0]._id, project.id);
      assert.equal(list.body.projects[0].userId, account.id);
    }
  });

  it("makes accounts Free unless told otherwise", async () => {
    const made = await runJson(["account", "create", "--email", "new@example.com"], env);
    assert.equal(made.tier, "free");
    for (const tier of ["free", "pro", "team", "enterprise"])
      assert.equal((await createAccount(`${tier}@example.com`, tier)).tier, tier);
  });

  it("makes an account once, and hashes its password from the option or from standard input", async () => {
    const args = ["account", "create", "--email", "pia@example.com", "--password"];
    const made = await runUpstow([...args, "-"], env, "from a pipe\n");
    assert.equal(made.code, 0, made.stderr);
    const account = await app.app.deps.db.get(findAccountByEmail, { email: "pia@example.com" });
    assert.ok(await verifyPassword("from a pipe", account?.password_hash ?? ""));
    const again = await runFailing([...args, "other"], env);
    assert.deepEqual([again.exitCode, again.code], [1, "VALIDATION_ERROR"]);
    assert.match(again.message, /account with the email address pia@example.com already exists/);
    const bad = await runFailing(["account", "create", "--email", "no address"], env);
    assert.deepEqual([bad.exitCode, bad.code], [1, "VALIDATION_ERROR"]);
    assert.match(bad.message, /^email must be .*, not "no address"\. Correct/);
  });

  it("holds the tier's limits, and moving the tier changes them at once", async () => {
    await createAccount("bob@example.com", "free");
    const project = await createProject("bob@example.com");
    await createProject("bob@example.com");
    const third = await runFailing(["project", "create", "--account", "bob@example.com", "--name", "C"], env);
    assert.deepEqual([third.exitCode, third.code], [1, "TIER_LIMIT_EXCEEDED"]);
    const { secret } = await createKey(project.id);
    assert.equal((await app.call("GET", "usage", { key: secret })).body.tier, "free");
    const moved = await runJson(["account", "set-tier", "bob@example.com", "pro"], env);
    assert.deepEqual([moved.email, moved.tier], ["bob@example.com", "pro"]);
    assert.equal((await app.call("GET", "usage", { key: secret })).body.tier, "pro");
    await createProject("bob@example.com");
  });

  it("gives Enterprise accounts limits of their own, at once, and keeps what is not given", async () => {
    await createAccount("eve@example.com", "team");
    const { secret } = await createKey((await createProject("eve@example.com")).id);
    const setLimits = ["account", "set-limits", "eve@example.com"];
    const refused = await runFailing([...setLimits, "--rate-other", "40"], env);
    assert.deepEqual([refused.exitCode, refused.code], [1, "VALIDATION_ERROR"]);
    assert.match(refused.message, /set-tier eve@example.com enterprise/);
    assert.equal(await policyOf(secret), '"other";q=10;w=60');
    await runJson(["account", "set-tier", "eve@example.com", "enterprise"], env);
    const set = await runJson([...setLimits, "--rate-other", "40", "--transform-units", "0"], env);
    assert.deepEqual(
      [set.rateUpload, set.rateTransform, set.rateOther, set.transformUnits],
      [null, null, 40, 0],
    );
    assert.equal(await policyOf(secret), '"other";q=40;w=60');
    const kept = await runJson([...setLimits, "--rate-upload", "7"], env);
    assert.deepEqual([kept.rateUpload, kept.rateOther, kept.transformUnits], [7, 40, 0]);
    const reset = await runJson([...setLimits, "--rate-other", "none"], env);
    assert.deepEqual([reset.rateUpload, reset.rateOther], [7, null]);
    assert.equal(await policyOf(secret), '"other";q=10;w=60');
  });

  it("revokes a key at once", async () => {
    const { secret, id } = await createKey(app.owner.projectId, "test");
    assert.equal((await app.call("GET", "usage", { key: secret })).status, 200);
    assert.deepEqual(await runJson(["key", "revoke", id], env), { id, revoked: true });
    assert.equal((await app.call("GET", "usage", { key: secret })).status, 401);
    const again = await runFailing(["key", "revoke", id], env);
    assert.deepEqual([again.exitCode, again.code], [1, "NOT_FOUND"]);
  });

  it("never repeats a secret that was given where an id belongs", async () => {
    const run = await runUpstow(["key", "revoke", app.owner.live], env);
    assert.equal(run.code, 1);
    assert.ok(!run.stderr.includes(app.owner.live));
    assert.equal((await app.call("GET", "usage", { key: app.owner.live })).status, 200);
  });

  it("finds no account or project that is not there", async () => {
    const commands = [
      ["account", "set-tier", "nobody@example.com", "pro"],
      ["account", "set-limits", "nobody@example.com", "--rate-other", "1"],
      ["project", "create", "--account", "nobody@example.com", "--name", "N"],
      ["key", "create", "--project", "nothing", "--type", "live"],
      ["project", "purge", "nothing"],
    ];
    for (const command of commands) {
      const failure = await runFailing(command, env);
      assert.deepEqual([failure.exitCode, failure.code], [1, "NOT_FOUND"], command.join(" "));
    }
  });

  it("purges a deleted project's files, and no others", async () => {
    const tenant = await app.createTenant("enterprise");
    const uploads = createUploadClient(app, tenant.live);
    const sandbox = createUploadClient(app, tenant.test);
    const files = [await uploads.upload(), await uploads.upload(), await sandbox.upload()];
    const early = await runFailing(["project", "purge", tenant.projectId], env);
    assert.deepEqual([early.exitCode, early.code], [1, "VALIDATION_ERROR"]);
    const deleted = await app.call("DELETE", `projects/${tenant.projectId}`, { key: tenant.live });
    assert.equal(deleted.status, 200);
    for (const file of files) assert.equal((await readAll(file.url)).status, 200);
    const reclaimedBytes = files.reduce((sum, file) => sum + file.size, 0);
    const purge = await runJson(["project", "purge", tenant.projectId], env);
    assert.deepEqual(purge, { id: tenant.projectId, deletedFiles: 3, reclaimedBytes });
    for (const file of files) assert.equal((await readAll(file.url)).status, 404);
    const again = await runJson(["project", "purge", tenant.projectId], env);
    assert.equal(again.deletedFiles, 0);
  });
});
