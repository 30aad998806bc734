import { after, before, test } from "node:test";
import { keepReport } from "../../../server/src/ops/maintenance-reports.ts";
import { signInAs } from "../../../server/test/support/console-client.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { expectGoodLookInEveryView, phone } from "../support/good-look.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
  const { app } = dashboard;
  const report = { checkedBlobs: 5, checkedBytes: 5000, damaged: 1, mended: 0, hasEnded: true };
  await keepReport(app.app.deps.db, "scrub", { startedAt: 0, endedAt: app.clock.now() }, report);
});
after(() => dashboard.close());

test("pages about people and the installation are accessible and fit a phone", async () => {
  const { app } = dashboard;
  const { accountId, projectId, live } = app.owner;
  await uploadFile(app, "12345", { key: live, name: "first.txt" });
  const owner = await signInAs(app, accountId);
  const body = { email: "somebody.with.a.long.name@subdomain.example.com", role: "developer" };
  const { link } = (await owner("POST", `/projects/${projectId}/invitations`, body)).body;
  const { page, context } = await dashboard.open(accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard`);
  await page.getByText("Show numbers").first().click();
  await expectGoodLookInEveryView(page, "the overview with the numbers of a chart");
  await goToPage(page, "Members");
  await page.getByRole("button", { name: "Invite member" }).click();
  await expectGoodLookInEveryView(page, "the dialog of an invitation");
  await page.goto(`${app.url}/dashboard/admin`);
  await page.getByRole("cell", { name: "enterprise" }).first().waitFor();
  await expectGoodLookInEveryView(page, "the installation");
  await page.getByRole("button", { name: "Edit" }).first().click();
  await expectGoodLookInEveryView(page, "the dialog of an account");
  await page.goto(`${app.url}/dashboard/account`);
  await page.getByRole("button", { name: "Turn on one-time codes" }).click();
  await expectGoodLookInEveryView(page, "the dialog of one-time codes");
  await context.clearCookies();
  await page.goto(`${app.url}/dashboard/join#${link.split("#")[1]}`);
  await page.getByLabel("Password").waitFor();
  await expectGoodLookInEveryView(page, "an invitation");
  await page.goto(`${app.url}/dashboard/claim#used`);
  await page.getByText("This link was already used").waitFor();
  await expectGoodLookInEveryView(page, "a used link");
  await context.close();
});
