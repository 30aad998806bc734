import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { createBucketStore } from "../../server/src/app/compose.ts";
import { readConfig } from "../../server/src/config.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { envOf, examine, runUpstow } from "./support/run-upstow.ts";

describe("doctor on a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  let app: TestApp;
  let env: Record<string, string>;
  before(async () => {
    const bucketEnv = await s3.createEnv();
    app = await startApp({ database: "sqlite", env: bucketEnv });
    env = { ...envOf(app), ...bucketEnv };
  });
  after(() => app.close());

  /** The complaints about the bucket, its clock and its CORS rules. */
  const complaints = async (more: Record<string, string> = {}) => {
    const checks = await examine({ ...env, ...more });
    const about = checks.filter((check) => check.name.startsWith("bucket") && check.status !== "ok");
    assert.ok(about.every((check) => check.fix !== undefined && check.fix !== ""));
    return about.map((check) => `${check.name}, ${check.status}: ${check.message}`);
  };

  it("tries what the service does, compares clocks, and leaves nothing behind", async () => {
    const run = await runUpstow(["doctor"], env);
    assert.equal(run.code, 0, run.stdout);
    assert.match(run.stdout, /^✔ bucket +test-\w+ can be written, read, copied and deleted$/m);
    assert.match(run.stdout, /^✔ bucket's clock +same as this machine's$/m);
    assert.match(run.stdout, /^! bucket's CORS +Browsers may not upload/m);
    assert.match(run.stdout, /doctor --fix/);
    const { s3: config } = readConfig(env);
    assert.ok(config);
    const store = createBucketStore(config);
    const old = { stagedOlderThanMs: 0, uploadsIdleMs: 0, maxDeletions: 9, now: Date.now() + 60_000 };
    assert.deepEqual(await store.sweep(old), { stagedObjects: 0, uploads: 0, capped: false });
    await store.close();
  });

  it("names a bucket, a secret or an address that is wrong", async () => {
    assert.match(
      (await complaints({ UPSTOW_S3_BUCKET: "no-such-bucket" })).join(),
      /bucket, failed: .*cannot be used/,
    );
    assert.match(
      (await complaints({ UPSTOW_S3_SECRET_ACCESS_KEY: "wrong" })).join(),
      /failed: The service is not allowed to write .*SignatureDoesNotMatch/,
    );
    assert.match((await complaints({ UPSTOW_S3_ENDPOINT: "http://127.0.0.1:1" })).join(), /ECONNREFUSED/);
  });

  it("names the right that is missing", async () => {
    const refuse = (isMeant: (method: string, url: string, headers: NodeJS.Dict<unknown>) => boolean) =>
      s3.proxy.setFaults(({ method = "", url = "", headers }) =>
        isMeant(method, url, headers)
          ? { kind: "answer", status: 403, body: "<Error><Code>AccessDenied</Code></Error>" }
          : null,
      );
    const acts: [string, string, Parameters<typeof refuse>[0]][] = [
      ["read", "failed", (method, url) => method === "GET" && url.includes("/probe/") && !url.includes("?")],
      ["copy", "failed", (_method, _url, headers) => "x-amz-copy-source" in headers],
      ["upload in parts", "failed", (method) => method === "POST"],
      ["delete", "failed", (method, url) => method === "DELETE" && !url.includes("?")],
      ["list", "warning", (_method, url) => url.includes("list-type")],
    ];
    for (const [act, status, isMeant] of acts) {
      refuse(isMeant);
      const about = (await complaints()).filter((line) => line.includes("The service is not allowed to"));
      assert.equal(about.length, 1, about.join("\n"));
      assert.match(
        about[0] ?? "",
        new RegExp(`^bucket, ${status}: The service is not allowed to ${act} in .*AccessDenied`),
      );
    }
  });

  it("says that a store does not take rules for browsers, when asked to set them", async () => {
    const run = await runUpstow(["doctor", "--fix"], env);
    assert.equal(run.code, 0);
    assert.match(run.stdout, /! bucket's CORS +Could not check or fix whether browsers may upload: .*501/);
  });
});
