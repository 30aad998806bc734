import { after, before, test } from "node:test";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { expectGoodLook, phone } from "../support/good-look.ts";
import { type Dashboard, goToPage, pageNames, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("every page is accessible and fits a phone", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await uploadFile(app, "x", { key: tenant.live, name: `${"very-long-".repeat(15)}.txt` });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard`);
  for (const name of pageNames) {
    await goToPage(page, name);
    await expectGoodLook(page, name);
  }
  await page.getByRole("button", { name: "Create key" }).click();
  await expectGoodLook(page, "the dialog of a new key");
  await page.keyboard.press("Escape");
  await goToPage(page, "Files");
  await page.getByRole("button", { name: "very-long", exact: false }).click();
  await expectGoodLook(page, "the dialog of a file");
  for (const path of ["/account", "/claim"]) {
    await page.goto(`${app.url}/dashboard${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectGoodLook(page, path);
  }
  await context.clearCookies();
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await expectGoodLook(page, "the sign-in page");
  await context.close();
});
