import assert from "node:assert/strict";
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
    assert.match((await runFailing(["storage", "remove", ...project], env)).message, /still holds files/);
    assert.equal((await createUploadClient(app, tenant.live).remove(upload.key)).status, 200);
    assert.equal((await runJson(["storage", "remove", ...project], env)).removed, true);
  });
});
