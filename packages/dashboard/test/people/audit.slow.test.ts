import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { AUDIT_ACTIONS, type AuditEntry } from "@upstow/contract";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { actionNames } from "../../app/pages/audit/action-names.ts";
import { expectGoodLook } from "../support/good-look.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("an owner finds who changed what, narrows it down and takes it along", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const call = (method: string, path: string, body: object) =>
    app.call(method, path, { key: tenant.live, body });
  const routers = `projects/${tenant.projectId}/routers`;
  const { router } = (await call("POST", routers, { slug: "photos" })).body;
  await call("PATCH", `routers/${router.id}`, { slug: "pictures", access: "private" });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Audit log");
  const changed = page.getByRole("listitem").filter({ hasText: "File route changed: pictures" });
  await changed.getByText("live (API key) · 127.0.0.1").waitFor();
  await changed.getByText("File route changed").click();
  await changed.getByText("photos", { exact: true }).waitFor();
  await changed.getByText("pictures", { exact: true }).last().waitFor();
  await changed.getByText("private", { exact: true }).waitFor();
  await expectGoodLook(page, "the audit log with an open entry");

  await page.getByLabel("Action").selectOption("API key created");
  await page.getByText("API key created: live").waitFor();
  assert.equal(await changed.count(), 0);
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export JSON lines" }).click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "audit-log.jsonl");
  const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
  const labels = lines.map((line) => (JSON.parse(line) as AuditEntry).target.label);
  assert.deepEqual(labels, ["test", "live"]);

  await page.getByLabel("Author").fill("nobody");
  await page.getByText("No matching entries").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await changed.waitFor();
  await context.close();
});

test("a member who is not an owner is not offered the page, and finds nothing at its address", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { accountId } = await app.createTenant("free");
  const member = { projectId: tenant.projectId, accountId, role: "developer", now: 0 } as const;
  await app.app.deps.db.run(putMember, member);
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/audit`);
  await page.getByText("A developer of this project can't do that.", { exact: false }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Audit log" }).count(), 0);
  await context.close();
});

test("everyone finds their sign-ins, and the installation's owner everything", async () => {
  const { app } = dashboard;
  const { page, context } = await dashboard.open(app.owner.accountId);
  await page.goto(`${app.url}/dashboard/account`);
  await page.getByRole("link", { name: "View account activity" }).click();
  await page.getByRole("heading", { level: 1, name: "Account activity" }).waitFor();
  await page.getByRole("listitem").getByText("Signed in", { exact: true }).first().waitFor();
  await page.goto(`${app.url}/dashboard/admin`);
  await page.getByRole("main").getByRole("link", { name: "Audit log" }).click();
  await page.getByRole("heading", { level: 1, name: "Installation audit log" }).waitFor();
  await page.getByRole("listitem").getByText("Project created: tenant").first().waitFor();
  await expectGoodLook(page, "the audit log of the installation");
  await context.close();
});

test("every action has a name", () => {
  assert.deepEqual(Object.keys(actionNames).sort(), AUDIT_ACTIONS.toSorted());
});
