import { after, before, test } from "node:test";
import sharp from "sharp";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { addDelivery } from "../support/add-delivery.ts";
import { expectGoodLookInEveryView, phone } from "../support/good-look.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
let tenant: Tenant;
before(async () => {
  dashboard = await startDashboard();
  const { app } = dashboard;
  tenant = await app.createTenant("pro");
  const photo = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const name = `${"very-long-".repeat(15)}.png`;
  await uploadFile(app, photo, { key: tenant.live, name, type: "image/png" });
  await uploadFile(app, "hello", { key: tenant.live, name: "hello.txt" });
  const { key } = await uploadFile(app, "hello", { key: tenant.live, name: "private.txt" });
  const audience = "a".repeat(128);
  await app.call("PATCH", `files/${key}`, { key: tenant.live, body: { access: "private", audience } });
  await app.call("POST", "files/links", { key: tenant.live, body: { keys: [key], maxUses: 1000 } });
  await app.call("POST", `projects/${tenant.projectId}/routers`, {
    key: tenant.live,
    body: { slug: "a".repeat(100), allowedTypes: ["image/png"], webhookUrl: "https://example.com/hook" },
  });
  const attempts = [{ status_code: 500, error: "server_error" as const, response: "x".repeat(400) }];
  await addDelivery(app, tenant, { attempts, url: `https://example.com/${"long".repeat(40)}` });
});
after(() => dashboard.close());

test("what opens on the pages of files is accessible and fits a phone", async () => {
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  const go = async (path: string) => {
    await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  };
  await go("files");
  await page.getByLabel("Select hello.txt").check();
  await page.getByText("Route, access, date, metadata").click();
  await page
    .getByLabel("Files to upload")
    .setInputFiles({ name: "up.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
  await page.getByText("1 of 1 uploaded").waitFor();
  await expectGoodLookInEveryView(page, "the list of files with a choice and an upload");
  await page.getByRole("button", { name: "hello.txt", exact: true }).click();
  await page.getByLabel("Preview").waitFor();
  await expectGoodLookInEveryView(page, "a text file");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "private.txt", exact: true }).click();
  await page.getByText("1000 of 1000 uses left").waitFor();
  await expectGoodLookInEveryView(page, "a private file");
  for (const name of ["Change access", "Create link", "Revoke all links"]) {
    await page.getByRole("button", { name }).click();
    await expectGoodLookInEveryView(page, `the dialog "${name}" of a private file`);
    await page.keyboard.press("Escape");
  }
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Grid" }).click();
  await page.getByRole("button", { name: "very-long" }).first().waitFor();
  await expectGoodLookInEveryView(page, "the grid of files");
  await page.getByRole("button", { name: "List" }).click();
  await page.getByRole("button", { name: "very-long" }).click();
  await page.getByText("Open in the image studio").click();
  await page.getByRole("img", { name: "Result" }).waitFor();
  await page.getByRole("button", { name: "Create URL and HTML" }).click();
  await page.getByText("Counted").waitFor();
  await expectGoodLookInEveryView(page, "the studio");
  await go("routes");
  await page.getByRole("button", { name: "Edit" }).first().click();
  await expectGoodLookInEveryView(page, "the form of a route");
  await go("webhooks");
  await page.getByRole("button", { name: "Bulk resend" }).click();
  await expectGoodLookInEveryView(page, "the dialog of many deliveries");
  await page.keyboard.press("Escape");
  await page.getByRole("list", { name: "Deliveries" }).getByRole("button").last().click();
  await page.getByRole("button", { name: "Show as curl" }).click();
  await page.getByRole("button", { name: "Copy curl" }).waitFor();
  await expectGoodLookInEveryView(page, "a delivery");
  for (const section of ["project", "storage", "delivery", "signing"]) {
    await go(`settings/${section}`);
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    await expectGoodLookInEveryView(page, `the settings of ${section}`);
  }
  await context.close();
});
