import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("a slow thumbnail shows its ThumbHash until it is there, and not behind it", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } });
  const options = { key: tenant.live, name: "a.png", type: "image/png" };
  const { key } = await uploadFile(app, await picture.png().toBuffer(), options);
  await until(async () => {
    const { body } = await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live });
    return body.file.image?.thumbhash != null;
  });
  const { page, context } = await dashboard.open(tenant.accountId);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/[pt]\/[^/]+\/.*a\.png/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const behind = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('img.thumb')).backgroundImage");
  await page.locator("img.thumb").waitFor();
  await until(async () => (await behind()).startsWith('url("data:image/'));
  release();
  await until(async () => (await behind()) === "none");
  await context.close();
});

test("no thumbnail is asked for in vain, and a new image gets its own", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const image = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const upload = (name: string, type: string, bytes: Uint8Array | string) =>
    uploadFile(app, bytes, { key: tenant.live, name, type });
  await upload("cut.png", "image/png", image.subarray(0, 50));
  await upload("page.png", "image/png", "<!doctype html>");
  await upload("drawing.svg", "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>");
  const { page, context } = await dashboard.open(tenant.accountId);
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  await page.getByRole("button", { name: "cut.png", exact: true }).waitFor();
  const picture = { name: "new.png", mimeType: "image/png", buffer: image };
  await page.locator("input[type=file]").first().setInputFiles([picture]);
  await until(() => page.evaluate("document.querySelector('img.thumb')?.naturalWidth === 320"));
  assert.equal(await page.locator("img.thumb").count(), 1);
  assert.deepEqual(refused, []);
  await context.close();
});
