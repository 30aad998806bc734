import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import { createTestBucket, type S3Server } from "../../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../../test/support/swift.ts";
import { createSessionToken, signInAs } from "../../../server/test/support/console-client.ts";
import { type CorsProxy, startCorsProxy } from "../support/cors-proxy.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

/** The page loads itself again for a policy that lets it send there. */
const waitForPolicy = (page: Page, endpoint: string) =>
  page.locator(`meta[name=storage-origins][content="${endpoint}"]`).waitFor({ state: "attached" });

describe("the storage of a project", { skip: swiftMissing }, () => {
  let server: S3Server;
  let proxy: CorsProxy;
  let dashboard: Dashboard;
  before(async () => {
    server = await startSwift();
    proxy = await startCorsProxy(server.endpoint);
    dashboard = await startDashboard({ UPSTOW_STORAGE_ALLOW_CIDRS: "127.0.0.0/8" });
  });
  after(async () => {
    await dashboard.close();
    await proxy.close();
    await server.stop();
  });

  it("is set to a bucket that works, tried, and given back; its secret is nowhere to be seen", async () => {
    const tenant = await dashboard.app.createTenant("pro");
    const bucket = await createTestBucket(server);
    const { page, context } = await dashboard.open(tenant.accountId);
    await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/settings/storage`);
    await page.getByText("Files are stored by this service").waitFor();
    await page.getByRole("button", { name: "Use your own bucket" }).click();
    await page.getByLabel("Endpoint").fill(server.endpoint);
    await page.getByLabel("Region").fill(server.region);
    await page.getByLabel("Bucket", { exact: true }).fill(bucket);
    await page.getByLabel("Access key ID").fill(server.accessKeyId);
    await page.getByLabel("Secret access key").fill("not-this-one");
    await page.getByRole("button", { name: "Test and save" }).click();
    await page.getByRole("alert").getByText("bucket cannot be used").waitFor();
    await page.getByLabel("Secret access key").fill(server.secretAccessKey);
    await page.getByRole("button", { name: "Test and save" }).click();
    await waitForPolicy(page, server.endpoint);
    await page.getByText(bucket).waitFor();
    assert.ok(!(await page.content()).includes(server.secretAccessKey));
    await page.getByRole("button", { name: "Test bucket" }).click();
    await page.getByText("The bucket works").waitFor();
    await page.getByRole("button", { name: "Stop using it" }).click();
    await page.getByText("Files are stored by this service").waitFor();
    await context.close();
  });

  it("takes files that are uploaded from the page, small and in parts, once the page may send there", async () => {
    const { app } = dashboard;
    const tenant = await app.createTenant("pro");
    const bucket = await createTestBucket(server);
    const owner = await signInAs(app, tenant.accountId);
    const policyOf = async (cookie: string) =>
      (await app.call("GET", "/dashboard", { headers: { cookie } })).headers.get("content-security-policy") ??
      "";
    const { page, context } = await dashboard.open(tenant.accountId);
    const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join();
    assert.ok(!(await policyOf(cookie)).includes(proxy.url));
    const violations: string[] = [];
    page.on("console", (message) => {
      if (/Content.Security.Policy/i.test(message.text())) violations.push(message.text());
    });

    // The page was opened before there was a bucket; its policy is another one as soon as it has been set.
    await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/settings/storage`);
    await page.getByRole("button", { name: "Use your own bucket" }).click();
    await page.getByLabel("Endpoint").fill(proxy.url);
    await page.getByLabel("Region").fill(server.region);
    await page.getByLabel("Bucket", { exact: true }).fill(bucket);
    await page.getByLabel("Access key ID").fill(server.accessKeyId);
    await page.getByLabel("Secret access key").fill(server.secretAccessKey);
    await page.getByRole("button", { name: "Test and save" }).click();
    await waitForPolicy(page, proxy.url);
    await page.getByRole("link", { name: "Files", exact: true }).click();
    const large = randomBytes(11 * 1024 * 1024);
    const upload = (name: string, mimeType: string, buffer: Buffer) =>
      page.getByLabel("Files to upload").setInputFiles({ name, mimeType, buffer });
    await upload("small.txt", "text/plain", Buffer.from("from the page"));
    await page.getByText("1 of 1 uploaded").waitFor();
    await upload("large.bin", "application/octet-stream", large);
    await page.getByText("2 of 2 uploaded").waitFor();
    // Beside the small one and three parts there is what the service itself tried out as a page would.
    const sent = proxy.fromPages.filter((request) => !request.includes("/probe/"));
    assert.equal(sent.length, 4, sent.join());
    assert.ok(sent.every((request) => request.startsWith(`PUT /${bucket}/`)));
    await page.getByRole("button", { name: "small.txt", exact: true }).click();
    await page.getByLabel("Preview").getByText("from the page").waitFor();
    assert.deepEqual(violations, []);
    const { files } = (await app.call("GET", "files", { key: tenant.live })).body;
    const stored = await fetch(files[0].url);
    assert.equal(files[0].name, "large.bin");
    assert.ok(Buffer.from(await stored.arrayBuffer()).equals(large));

    assert.ok((await policyOf(cookie)).includes(` ${proxy.url}`));
    assert.deepEqual((await owner("GET", "/projects")).body.storageOrigins, [proxy.url]);
    const { accountId } = await app.createTenant("pro");
    const stranger = `upstow_session=${await createSessionToken(app, accountId)}`;
    for (const other of ["", stranger]) assert.ok(!(await policyOf(other)).includes(proxy.url));
    await context.close();
  });
});
