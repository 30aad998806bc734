import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { addDelivery } from "../support/add-delivery.ts";
import { phone } from "../support/good-look.ts";
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

test("pictures to pick from are equally wide before they have loaded, however short their names", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const photo = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  for (const name of ["a.png", "a-picture-with-a-name-that-does-not-fit.png"])
    await uploadFile(app, photo, { key: tenant.live, name, type: "image/png" });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.route("**/t/**", () => {});
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/studio`);
  await page.locator(".pick img").nth(1).waitFor();
  const widths = await page.evaluate<number[]>(
    "[...document.querySelectorAll('.pick img')].map((image) => image.width)",
  );
  assert.equal(widths[0], widths[1]);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.close();
});

test("fields of a dialog that a toolbar opens are as wide as the dialog", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  await page.getByRole("button", { name: "More ways to upload" }).click();
  await page.getByRole("menuitem", { name: "Create upload link…" }).click();
  const widths = await page.evaluate<number[]>(
    "[...document.querySelectorAll('dialog :is(select, input)')].map((field) => field.offsetWidth)",
  );
  assert.equal(widths.length, 3);
  assert.equal(new Set(widths).size, 1, widths.join());
  await context.close();
});

test("the curl command of a delivery is brought into view", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const attempts = [{ status_code: 500, error: "server_error" as const, response: "" }];
  await addDelivery(app, tenant, { attempts });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/webhooks`);
  await page.getByRole("list", { name: "Deliveries" }).getByRole("button").first().click();
  await page.getByRole("button", { name: "Show as curl" }).click();
  const head = await page.getByRole("heading", { name: "As curl" }).boundingBox();
  const top = head?.y ?? -1;
  assert.ok(top >= 0 && top < phone.height / 2, `${top} pixels below the top`);
  await context.close();
});

test("a file's panel stays where it is, with its buttons at the bottom, wherever its content is scrolled to", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { id } = await uploadFile(app, "x", { key: tenant.live, name: "notes.txt" });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files/${id}`);
  await page.getByText("upload.requested").waitFor();
  await page.evaluate("document.querySelector('.timeline li:last-child').scrollIntoView()");
  const buttons = await page.locator(".sheet-actions").boundingBox();
  assert.equal(Math.round((buttons?.y ?? 0) + (buttons?.height ?? 0)), phone.height);
  await context.close();
});

test("what can be done with selected deliveries stays in view, however far down they are", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const attempts = [{ status_code: 500, error: "server_error" as const, response: "" }];
  for (let i = 0; i < 12; i++) await addDelivery(app, tenant, { attempts });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/webhooks`);
  await page.getByRole("checkbox").last().check();
  const button = await page.getByRole("button", { name: "Resend 1" }).boundingBox();
  const top = button?.y ?? -1;
  assert.ok(top >= 0 && top < phone.height, `${top} pixels below the top`);
  await context.close();
});
