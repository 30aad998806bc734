import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { createUploadClient } from "../../../server/test/support/upload-client.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const urlOf = ({ projectId }: Tenant, page: string) =>
  `${dashboard.app.url}/dashboard/${projectId}/live/${page}`;

test("the trash period is set in the dashboard, and each file says when it was deleted and will be gone", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  for (const name of ["a.txt", "b.txt", "c.txt"]) await uploadFile(app, "hello", { key: tenant.live, name });
  await createUploadClient(app, tenant.live).request({ fileName: "open.txt" });
  const { page, context } = await dashboard.open(tenant.accountId);
  const remove = async (...names: string[]) => {
    for (const name of names) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("button", { name: `Delete ${names.length}` }).click();
  };
  await page.goto(urlOf(tenant, "files"));
  await remove("a.txt");
  await page.getByText("One file will be deleted permanently.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();

  await page.goto(urlOf(tenant, "trash"));
  await page.getByText("The trash is off").waitFor();
  await page.getByRole("link", { name: "Change the trash period" }).click();
  const days = page.getByLabel("Keep deleted files for days");
  await days.fill("91");
  const form = page.locator("form", { has: days });
  await form.getByRole("button", { name: "Save" }).click();
  await form.locator("input:invalid").waitFor();
  await days.fill("7");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("Saved").waitFor();
  await page.getByText("7 days", { exact: true }).waitFor();
  const { project } = (await app.call("GET", `projects/${tenant.projectId}`, { key: tenant.live })).body;
  assert.equal(project.trashDays, 7);

  await page.getByRole("link", { name: "Files", exact: true }).click();
  await remove("a.txt", "b.txt");
  await page.getByText("2 files will go to the trash for 7 days.").waitFor();
  await remove("open.txt");
  await page.getByText("One file will be deleted permanently.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await remove("open.txt", "c.txt");
  await page.getByText("2 files will be deleted. Finished uploads go to the trash for 7 days.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: "Trash" }).click();
  const row = page.getByRole("list", { name: "Deleted files" }).getByRole("listitem").first();
  await page.getByText("Deleted files can be restored for 7 days").waitFor();
  await page.reload();
  await row.getByText("Deleted just now").waitFor();
  await row.getByText("Removed for good in 7 days").waitFor();
  await context.close();
});

test("only an owner is offered to change the trash period", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { accountId } = await app.createTenant("free");
  const member = { projectId: tenant.projectId, accountId, role: "developer" as const, now: 0 };
  await app.app.deps.db.run(putMember, member);
  const { page, context } = await dashboard.open(accountId);
  await page.goto(urlOf(tenant, "trash"));
  await page.getByText("The project’s owner can change the trash period.").waitFor();
  assert.equal(await page.getByRole("link", { name: "Change the trash period" }).count(), 0);
  await page.goto(urlOf(tenant, "settings/project"));
  await page.getByText("Only the project’s owner can").waitFor();
  assert.equal(await page.getByLabel("Keep deleted files for days").count(), 0);
  await context.close();
});
