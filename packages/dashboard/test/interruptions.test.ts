import { after, before, test } from "node:test";
import type { Tenant } from "../../server/test/support/start-app.ts";
import { type Dashboard, startDashboard } from "./support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const urlOf = ({ projectId }: Tenant, path: string) =>
  `${dashboard.app.url}/dashboard/p/${projectId}/live/${path}`;

test("a page whose script cannot be loaded leaves the way to the others, and is loaded again", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "files"));
  await page.getByText("No files yet").waitFor();
  await page.route("**/assets/webhooks-*.js", (route) => route.abort());
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.getByRole("heading", { name: "This page could not be shown" }).waitFor();
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByText("No files yet").waitFor();
  await page.getByRole("link", { name: "Webhooks", exact: true }).click();
  await page.unroute("**/assets/webhooks-*.js");
  await page.getByRole("button", { name: "Load again" }).click();
  await page.getByText("No deliveries").waitFor();

  await page.route("**/assets/claim-*.js", (route) => route.abort());
  await page.goto(`${dashboard.app.url}/dashboard/claim#x`);
  await page.getByRole("button", { name: "Load again" }).waitFor();
  await context.close();
});
