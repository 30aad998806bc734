import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createTestBucket, type S3Server } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { type Dashboard, startDashboard } from "./support/open-dashboard.ts";

describe("the storage of a project", { skip: swiftMissing }, () => {
  let server: S3Server;
  let dashboard: Dashboard;
  before(async () => {
    server = await startSwift();
    dashboard = await startDashboard({ UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8" });
  });
  after(async () => {
    await dashboard.close();
    await server.stop();
  });

  it("is set to a bucket that works, tried, and given back; its secret is nowhere to be seen", async () => {
    const tenant = await dashboard.app.createTenant("pro");
    const bucket = await createTestBucket(server);
    const { page, context } = await dashboard.open(tenant.accountId);
    await page.goto(`${dashboard.app.url}/dashboard/p/${tenant.projectId}/live/settings/storage`);
    await page.getByText("Files are kept by this service").waitFor();
    await page.getByRole("button", { name: "Use your own bucket" }).click();
    await page.getByLabel("Endpoint").fill(server.endpoint);
    await page.getByLabel("Region").fill(server.region);
    await page.getByLabel("Bucket", { exact: true }).fill(bucket);
    await page.getByLabel("Access key id").fill(server.accessKeyId);
    await page.getByLabel("Secret access key").fill("not-this-one");
    await page.getByRole("button", { name: "Try and save" }).click();
    await page.getByRole("alert").getByText("bucket cannot be used").waitFor();
    await page.getByLabel("Secret access key").fill(server.secretAccessKey);
    await page.getByRole("button", { name: "Try and save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByText(bucket).waitFor();
    assert.ok(!(await page.content()).includes(server.secretAccessKey));
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("The bucket works").waitFor();
    await page.getByRole("button", { name: "Stop using it" }).click();
    await page.getByText("Files are kept by this service").waitFor();
    await context.close();
  });
});
