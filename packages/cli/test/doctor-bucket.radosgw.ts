// The one thing that Swift does not do: taking CORS rules. Not part of `npm test`, see s3-store.radosgw.ts.
//   npx node --test packages/cli/test/doctor-bucket.radosgw.ts
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { radosgwMissing, startRadosgw } from "../../../test/support/radosgw.ts";
import { createBucketEnv, type S3Server } from "../../../test/support/s3-server.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { envOf, runUpstow } from "./support/run-upstow.ts";

describe("doctor on radosgw", { skip: radosgwMissing }, () => {
  let server: S3Server;
  let app: TestApp;
  let env: Record<string, string>;
  before(async () => {
    server = await startRadosgw();
    const bucketEnv = await createBucketEnv(server);
    app = await startApp({ database: "sqlite", env: bucketEnv });
    env = { ...envOf(app), ...bucketEnv };
  });
  after(async () => {
    await app.close();
    await server.stop();
  });

  it("adds the rule that pages need to upload, once", async () => {
    assert.match((await runUpstow(["doctor"], env)).stdout, /^! bucket's CORS +Browsers may not upload/m);
    const fixed = await runUpstow(["doctor", "--fix"], env);
    assert.equal(fixed.code, 0, fixed.stdout);
    assert.match(fixed.stdout, /^✔ bucket's CORS +added the rule that lets browsers upload$/m);
    const again = await runUpstow(["doctor", "--fix"], env);
    assert.match(again.stdout, /^✔ bucket's CORS +browsers may upload, and can read the ETag/m);
    assert.match(again.stdout, /^✔ bucket +test-\w+ can be written/m);
  });
});
