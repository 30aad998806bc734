import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createTestBucket, type S3Server } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { startApp, type Tenant, type TestApp } from "../../server/test/support/start-app.ts";
import { createUploadClient } from "../../server/test/support/upload-client.ts";
import { envOf, runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

describe("upstow storage", { skip: swiftMissing }, () => {
  let server: S3Server;
  let app: TestApp;
  let tenant: Tenant;
  let env: Record<string, string>;
  before(async () => {
    server = await startSwift();
    const allow = { UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8" };
    app = await startApp({ database: "sqlite", env: allow });
    tenant = await app.createTenant("pro");
    env = { ...envOf(app), ...allow };
  });
  after(async () => {
    await app.close();
    await server.stop();
  });

  it("sets, probes, reseals and removes a bucket beside a running service", async () => {
    const project = ["--project", tenant.projectId];
    const bucket = await createTestBucket(server);
    const place = ["--bucket", bucket, "--endpoint", server.endpoint, "--access-key-id", server.accessKeyId];
    const set = ["storage", "set", ...project, ...place, "--secret-access-key", "-"];
    const refused = await runFailing([...set.slice(0, -1), "wrong"], env);
    assert.deepEqual([refused.exitCode, refused.code], [1, "VALIDATION_ERROR"]);
    assert.equal((await runFailing(["storage", "probe", ...project], env)).code, "NOT_FOUND");

    const done = await runUpstow([...set, "--json"], env, `${server.secretAccessKey}\n`);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(JSON.parse(done.stdout).bucket, bucket);
    assert.ok(!done.stdout.includes(server.secretAccessKey));
    const upload = await createUploadClient(app, tenant.live).request();
    assert.ok(
      upload.uploadUrl.startsWith(`${server.endpoint}/${bucket}/`),
      "at once, on the running service",
    );
    assert.equal((await runJson(["storage", "probe", ...project], env)).ok, true);
    assert.deepEqual(await runJson(["storage", "reseal"], env), { resealed: 1 });
    assert.match((await runFailing(["storage", "remove", ...project], env)).message, /still contains files/);
    assert.equal((await createUploadClient(app, tenant.live).remove(upload.key)).status, 200);
    assert.equal((await runJson(["storage", "remove", ...project], env)).removed, true);
  });
});

describe("upstow storage without the installation's secret", () => {
  it("seals nothing that the service could not open, and makes no secret of its own", async () => {
    const app = await startApp({ database: "postgres", env: { UPSTOW_SECRET: "a".repeat(40) } });
    try {
      const shell = join(app.app.deps.config.dataDir, "shell");
      const env = { ...envOf(app), UPSTOW_DATA_DIR: shell };
      const { projectId } = await app.createTenant("pro");
      const place = ["--bucket", "b", "--access-key-id", "k", "--secret-access-key", "s"];
      const set = ["storage", "set", "--project", projectId, ...place];
      const missing = await runFailing(set, env);
      assert.equal(missing.code, "CONFIGURATION");
      assert.match(missing.message, /neither in UPSTOW_SECRET nor in/);
      assert.equal(existsSync(join(shell, "secret")), false);
      const wrong = await runFailing(set, { ...env, UPSTOW_SECRET: "b".repeat(40) });
      assert.equal(wrong.code, "CONFIGURATION");
      assert.match(wrong.message, /^UPSTOW_SECRET lacks the secret/);
      const probe = ["storage", "probe", "--project", projectId];
      const right = await runFailing(probe, { ...env, UPSTOW_SECRET: "a".repeat(40) });
      assert.equal(right.code, "NOT_FOUND");
      assert.match(right.message, /^The project has no custom bucket\. .*upstow storage set/);
      const none = ["storage", "probe", "--project", "none"];
      const unknown = await runFailing(none, { ...env, UPSTOW_SECRET: "a".repeat(40) });
      assert.equal(unknown.message, "There is no project none. Check the id.");
    } finally {
      await app.close();
    }
  });
});

describe("upstow storage at an address that is not public", () => {
  it("says which setting allows it", async () => {
    const app = await startApp({ database: "sqlite" });
    try {
      const { projectId } = await app.createTenant("pro");
      const place = ["--bucket", "bucket", "--access-key-id", "k", "--secret-access-key", "s"];
      const set = ["storage", "set", "--project", projectId, ...place, "--endpoint", "http://127.0.0.1:9000"];
      const { code, message } = await runFailing(set, envOf(app));
      assert.equal(code, "VALIDATION_ERROR");
      assert.match(message, /^The URL must start with https:\/\/\. .*UPSTOW_STORAGE_ALLOW_CIDRS/);
    } finally {
      await app.close();
    }
  });
});
