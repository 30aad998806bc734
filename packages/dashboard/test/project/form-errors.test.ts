import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

/** Whether the error and the button can be seen, one right above the other. */
const isByButton = `(() => {
  const error = document.querySelector(".form-end [role=alert]");
  const box = error.getBoundingClientRect();
  const button = error.closest("form").querySelector("[type=submit]").getBoundingClientRect();
  const isSeen = error.contains(document.elementFromPoint(box.left + box.width / 2, box.top + 12));
  return isSeen && box.bottom <= button.top && button.top - box.bottom < 40 && button.bottom <= innerHeight;
})()`;

/** The page scrolls to it a moment later. */
const expectErrorByButton = (page: Page) => until(() => page.evaluate<boolean>(isByButton));

test("a rejected form shows why right above its button, wherever it is scrolled to", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  for (const viewport of [
    { width: 390, height: 844 },
    { width: 1280, height: 420 },
  ]) {
    const { page, context } = await dashboard.open(tenant.accountId, { viewport });
    await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/routes`);
    await page.getByRole("button", { name: "Create route" }).click();
    const dialog = page.getByRole("dialog");
    const error = dialog.getByRole("alert");
    await dialog.getByLabel("Slug").fill("default");
    await page.keyboard.press("Enter");
    await error.getByText("default").waitFor();
    await expectErrorByButton(page);
    await page.evaluate("document.querySelector('dialog').scrollTo(0, 1e6)");
    await dialog.getByRole("button", { name: "Save" }).click();
    await error.getByText("default").waitFor();
    await expectErrorByButton(page);
    // What had the focus last is not under the error.
    await dialog.getByLabel("Another type").focus();
    const isFree = await page.evaluate(
      "(({ left, top, height }) => document.elementFromPoint(left + 5, top + height / 2) === document.activeElement)(document.activeElement.getBoundingClientRect())",
    );
    assert.equal(isFree, true, `${viewport.width} pixels wide`);
    await context.close();
  }
});

test("outside of dialogs, the page scrolls to a form's error", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: { width: 390, height: 420 } });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/settings/project`);
  await page.route("**/dashboard/api/projects/*", (route) => route.abort());
  await page.getByLabel("Project name").fill("Another name");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await expectErrorByButton(page);
  await context.close();
});

test("an error doesn't show the API's name of a field", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/routes`);
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("photos");
  await page.getByLabel("Webhook URL").fill("http://example.com/hook");
  await page.getByRole("button", { name: "Save" }).click();
  const text = await page.getByRole("dialog").getByRole("alert").textContent();
  assert.match(text ?? "", /^The URL must start with https:/);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/settings/delivery`);
  await page.getByLabel("Domain").fill("files.example.invalid");
  await page.getByRole("button", { name: "Check and save" }).click();
  assert.match((await page.getByRole("alert").textContent()) ?? "", /^The name files\.example\.invalid/);
  await context.close();
});
