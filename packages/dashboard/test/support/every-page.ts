import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { phone } from "./good-look.ts";
import { goToPage, pageNames, startDashboard } from "./open-dashboard.ts";

/** Opens every page, and shows each to this. */
export async function openEveryPage(
  t: TestContext,
  look: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  const dashboard = await startDashboard();
  t.after(() => dashboard.close());
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await uploadFile(app, "x", { key: tenant.live, name: `${"very-long-".repeat(15)}.txt` });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard`);
  for (const name of pageNames) {
    await goToPage(page, name);
    await look(page, name);
  }
  await page.getByRole("button", { name: "Create key" }).click();
  await look(page, "the dialog of a new key");
  await page.keyboard.press("Escape");
  await goToPage(page, "Files");
  await page.getByRole("button", { name: "very-long", exact: false }).click();
  await look(page, "the dialog of a file");
  for (const path of ["/account", "/claim"]) {
    await page.goto(`${app.url}/dashboard${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await look(page, path);
  }
  await context.clearCookies();
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await look(page, "the sign-in page");
}
