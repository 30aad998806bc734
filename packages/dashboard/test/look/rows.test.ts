import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addDelivery } from "../support/add-delivery.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const middles = `[...document.querySelectorAll(".deliveries > li")].map((row) =>
  [...row.children].map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 2)))`;
/** Whether a name's box is higher than its lines: a clamped text shows part of the next line there. */
const namesWithRoom = `[...document.querySelectorAll(".deliveries .name")]
  .filter((name) => (name.clientHeight + 1) % parseFloat(getComputedStyle(name).lineHeight) > 2).length`;

test("an entry of the audit log has what happened on one line, and who did it on the next", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/audit`);
  await page.getByText("Project created: tenant").waitFor();
  const lines = `[...document.querySelectorAll(".entry > summary")]
    .map((entry) => Math.round(entry.clientHeight / parseFloat(getComputedStyle(entry).lineHeight)))`;
  const found = (await page.evaluate(lines)) as number[];
  assert.deepEqual([...new Set(found)], [2]);
  await context.close();
});

test("a delivery is one line on everything wider than a phone, and a long name ends with its third line", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const attempts = [{ status_code: 500, error: "server_error" as const, response: "" }];
  await addDelivery(app, tenant, { attempts, state: "delivered" });
  await addDelivery(app, tenant, { attempts, fileName: `${"minutes and appendices ".repeat(10)}.pdf` });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/webhooks`);
  await page.getByRole("list", { name: "Deliveries" }).waitFor();
  for (const width of [800, 1024, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await untilSettled(page);
    const rows = (await page.evaluate(middles)) as number[][];
    assert.equal(rows.length, 2);
    for (const parts of rows)
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 2, `${width}: ${parts.join()}`);
  }
  assert.equal(await page.evaluate(namesWithRoom), 0);
  await context.close();
});
