import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { expectVisibleFocus, focusedName, pressOn, tabTo } from "../support/keyboard.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const focusGoesTo = (page: Page, name: string) =>
  until(async () => (await page.evaluate(focusedName)) === name);

test("the focus goes to the neighbour of what a deletion, a restore or a revocation takes away", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { projectId, live: key } = tenant;
  await app.call("PATCH", `projects/${projectId}`, { key, body: { trashDays: 1 } });
  for (const name of ["a.txt", "b.txt", "c.txt"]) await uploadFile(app, "x", { key, name });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${projectId}/live/files`);
  await page.getByRole("button", { name: "b.txt", exact: true }).waitFor();

  await pressOn(page, "b.txt");
  await page.getByRole("dialog", { name: "b.txt" }).waitFor();
  await pressOn(page, "Delete");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await focusGoesTo(page, "Select a.txt");

  await page.keyboard.press("Space");
  await pressOn(page, "Delete 1");
  await page.getByRole("button", { name: "a.txt", exact: true }).waitFor({ state: "detached" });
  await expectVisibleFocus(page);
  // Leaving the page deletes what waits for an undo.
  await pressOn(page, "Trash");
  await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
  await until(() => page.evaluate("document.activeElement.id === 'content'"));
  await page.reload();
  await page.getByRole("button", { name: "Restore b.txt" }).waitFor();
  await tabTo(page, "Restore a.txt");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Restore a.txt" }).waitFor({ state: "detached" });
  await focusGoesTo(page, "Select b.txt");

  await page.goto(`${app.url}/dashboard/${projectId}/live/settings/keys`);
  await page.getByRole("button", { name: "Revoke live" }).waitFor();
  await pressOn(page, "Revoke live");
  await pressOn(page, "Revoke key");
  await page.getByRole("button", { name: "Revoke live" }).waitFor({ state: "detached" });
  await focusGoesTo(page, "Revoke test");
  await context.close();
});

test("the last file's panel keeps the focus, and so does a page whose link was followed", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { projectId, live: key } = tenant;
  for (const name of ["a.txt", "b.txt"]) await uploadFile(app, "x", { key, name });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${projectId}/live/files`);
  await page.getByRole("button", { name: "b.txt", exact: true }).waitFor();
  await pressOn(page, "b.txt");
  await page.getByRole("dialog", { name: "b.txt" }).waitFor();
  await pressOn(page, "Next file");
  await page.getByRole("dialog", { name: "a.txt" }).waitFor();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(focusedName), "Next file");
  await pressOn(page, "Webhook deliveries for this file");
  await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
  await until(() => page.evaluate("document.activeElement.id === 'content'"));
  await context.close();
});
