import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { version } from "../../../server/src/kernel/version.ts";
import { keepReport } from "../../../server/src/ops/maintenance-reports.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("the owner sees how the installation stands, makes an account and changes one", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("free");
  const { page, context } = await dashboard.open(app.owner.accountId);
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("navigation").getByRole("link", { name: "Installation" }).click();
  await page.getByText("Nothing has run yet").waitFor();
  await page.getByText(version, { exact: true }).waitFor();
  await page.getByText("Webhooks waiting").waitFor();
  const report = { checkedBlobs: 1234, checkedBytes: 5_000_000, damaged: 0, mended: 0, hasEnded: true };
  const now = app.clock.now();
  await keepReport(app.app.deps.db, "scrub", { startedAt: now, endedAt: now }, report);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("1,234 objects checked · 4.8 MB read").waitFor();

  await page.getByRole("button", { name: "Create account" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Email address").fill(tenant.email);
  await dialog.getByRole("button", { name: "Create account" }).click();
  await dialog.getByText(`An account with the email address ${tenant.email} already exists.`).waitFor();
  await dialog.getByLabel("Email address").fill("colleague@example.com");
  await dialog.getByLabel("Tier").selectOption("team");
  await dialog.getByRole("button", { name: "Create account" }).click();
  const link = (await dialog.locator("output").textContent()) ?? "";
  assert.match(link, /\/dashboard\/claim#[\w-]{43}$/);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByText("colleague@example.com", { exact: true }).first().waitFor();
  assert.ok(!(await page.content()).includes(link.split("#")[1] ?? "-"));

  await page.getByLabel("Search by email").fill("nobody-like-that");
  await page.getByText("No matching accounts").waitFor();
  await page.getByLabel("Search by email").fill(tenant.email);
  await page.getByText("colleague@example.com", { exact: true }).first().waitFor({ state: "detached" });
  await page.getByRole("button", { name: `Edit ${tenant.email}` }).click();
  await dialog.getByLabel("Tier").selectOption("enterprise");
  await dialog.getByLabel("Other requests per minute").fill("55");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("cell", { name: "enterprise" }).waitFor();
  const answer = await app.call("GET", "projects", { key: tenant.live });
  assert.match(answer.headers.get("ratelimit-policy") ?? "", /q=55;/);
  await context.close();
});

test("nobody else is offered the page, and it tells them nothing", async () => {
  const { app } = dashboard;
  const { accountId } = await app.createTenant("enterprise");
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Overview");
  assert.equal(await page.getByRole("link", { name: "Installation" }).count(), 0);
  await page.goto(`${app.url}/dashboard/admin`);
  await page.getByText("Only the installation's owner can do that.").first().waitFor();
  assert.equal(await page.getByText(version, { exact: true }).count(), 0);
  await context.close();
});
