import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { slowTest } from "../../../../test/support/quick-run.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { addDelivery } from "../support/add-delivery.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { copyWith } from "../support/settled.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

async function openPage(tenant: Tenant, name: string, environment = "live") {
  const opened = await dashboard.open(tenant.accountId);
  await opened.page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/${environment}/${name}`);
  return opened;
}

test("a file route is created with types and a size, edited and deleted", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await openPage(tenant, "routes", "test");
  const list = async () =>
    (await app.call("GET", `projects/${tenant.projectId}/routers`, { key: tenant.live })).body.routers;
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("avatars");
  await page.getByRole("button", { name: "+ image/*" }).click();
  await page.getByRole("button", { name: "+ image/png" }).click();
  await page.getByLabel("Another type").fill("nonsense");
  await page.keyboard.press("Enter");
  await page.getByText("Enter a type such as").waitFor();
  await page.getByLabel("Another type").fill("Application/X-Thing");
  await page.getByRole("button", { name: "Add type" }).click();
  await page.getByRole("button", { name: "Remove image/png" }).click();
  // Nobody means by it that no file fits.
  await page.getByLabel("Largest file").fill("0");
  await page.getByRole("button", { name: "Save" }).click();
  assert.equal(await page.evaluate("document.querySelector('input[type=number]').checkValidity()"), false);
  await page.getByLabel("Largest file").fill("2");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "avatars" });
  await row.getByText("up to 2.0 MB").waitFor();
  const [created] = await list();
  assert.deepEqual(
    [created.slug, created.allowedTypes, created.maxFileSize],
    ["avatars", ["image/*", "application/x-thing"], 2 ** 21],
  );
  await row.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Largest file").fill("1.5");
  await page.getByRole("combobox", { name: "Unit", exact: true }).selectOption("GB");
  await page.getByLabel("Webhook URL").fill("https://localhost/hook");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("is this machine").waitFor();
  await page.getByLabel("Webhook URL").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await row.getByText("up to 1.5 GB").waitFor();
  assert.equal((await list())[0].maxFileSize, 1.5 * 2 ** 30);
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("avatars");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("avatars").waitFor();
  await page.keyboard.press("Escape");
  await row.getByRole("button", { name: "Delete" }).click();
  await page.route("**/routers/*", (route) => route.abort());
  await page.getByRole("button", { name: "Delete route" }).click();
  await page.getByRole("dialog").getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/routers/*");
  await page.getByRole("button", { name: "Delete route" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal((await list()).length, 1);
  await context.close();
});

slowTest(
  "a dialog gives the focus back when its work is done, or to the page where its button is gone",
  async () => {
    const tenant = await dashboard.app.createTenant("pro");
    await uploadFile(dashboard.app, "x", { key: tenant.live, name: "a.txt" });
    const { page, context } = await openPage(tenant, "routes");
    const dialog = page.getByRole("dialog");
    const focused = () => page.evaluate("document.activeElement.id || document.activeElement.textContent");
    await page.getByRole("button", { name: "Edit" }).press("Enter");
    await dialog.getByLabel("Largest file").press("Enter");
    await dialog.waitFor({ state: "detached" });
    await until(async () => (await focused()) === "Edit");
    await page.getByRole("link", { name: "Files", exact: true }).press("Enter");
    await page.getByRole("button", { name: "a.txt", exact: true }).press("Enter");
    await dialog.getByRole("button", { name: "Delete" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await until(async () => (await focused()) === "content");
    await context.close();
  },
);

test("the webhook of a route is tried from the page, and a failure is explained", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await app.call("POST", `projects/${tenant.projectId}/routers`, {
    key: tenant.live,
    body: { slug: "docs", webhookUrl: "https://name-that-does-not-exist.invalid/hook" },
  });
  const { page, context } = await openPage(tenant, "routes");
  await page.getByRole("button", { name: "Test webhook" }).click();
  const dialog = page.getByRole("dialog", { name: "Test webhook" });
  await dialog.getByText("The host name could not be resolved.").first().waitFor();
  await context.close();
});

test("a project without deliveries is not offered to resend them", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await openPage(tenant, "webhooks");
  await page.getByText("No deliveries").waitFor();
  assert.equal(await page.getByRole("button", { name: "Bulk resend" }).count(), 0);
  await addDelivery(app, tenant);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("button", { name: "Bulk resend" }).waitFor();
  await context.close();
});

test("deliveries are filtered, read, shown as curl and sent again: one, some, or all since a time", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const answer = 'it\'s <b>bold</b>\u202e and\u0007 "broken"';
  const failed = { status_code: 500, error: "server_error" as const, response: answer };
  const dead = await addDelivery(app, tenant, {
    routeSlug: "docs",
    fileName: "it's.jpg",
    attempts: [failed],
  });
  const done = await addDelivery(app, tenant, {
    state: "delivered",
    attempts: [{ status_code: 200, error: null, response: "ok" }],
  });
  const statusOf = async (id: string) =>
    (await app.call("GET", `webhooks/deliveries/${id}`, { key: tenant.live })).body.delivery.status;
  const { page, context } = await openPage(tenant, "webhooks");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
  await rows.nth(1).waitFor();
  await page.getByRole("combobox", { name: "Status" }).selectOption("Failed");
  await rows.nth(1).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "it's.jpg" }).click();
  const dialog = page.getByRole("dialog", { name: "Delivery" });
  await dialog.getByText("Your endpoint returned 500.").first().waitFor();
  await dialog.getByText('it\'s <b>bold</b>‹U+202E› and‹U+0007› "broken"').waitFor();
  await dialog.getByRole("button", { name: "Show as curl" }).click();
  const curl = await copyWith(page, dialog.getByRole("button", { name: "Copy curl" }));
  assert.match(curl, /^curl -X POST 'https:\/\/example\.com\/hook'/);
  assert.match(curl, /delivery-signature: ey/);
  assert.ok(curl.includes("it'\\''s.jpg"));
  await dialog.getByRole("button", { name: "Resend" }).click();
  await dialog.getByText("Pending").waitFor();
  assert.equal(await statusOf(dead), "pending");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Clear" }).click();
  await rows.nth(1).waitFor();
  await page.getByRole("combobox", { name: "Status" }).selectOption("Delivered");
  await page.getByRole("checkbox").check();
  await page.getByRole("combobox", { name: "Status" }).selectOption("Failed");
  await page.getByText("No matching deliveries").waitFor();
  assert.equal(await page.getByRole("button", { name: "Resend 1" }).count(), 0);
  await page.getByRole("combobox", { name: "Status" }).selectOption("Delivered");
  await page.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Resend 1" }).click();
  await page.getByText("No matching deliveries").waitFor();
  assert.equal(await statusOf(done), "pending");

  await addDelivery(app, tenant, { attempts: [failed] });
  await page.getByRole("button", { name: "Bulk resend" }).click();
  const many = page.getByRole("dialog", { name: "Bulk resend" });
  await many.getByRole("button", { name: "Preview matches" }).click();
  await many.getByText("1 delivery matches.").waitFor();
  await many.getByRole("button", { name: "Resend 1" }).click();
  await many.getByText("1 delivery queued.").waitFor();
  await context.close();
});

slowTest(
  "deliveries are sent again only as they were counted, also where the choice changes meanwhile",
  async () => {
    const { app } = dashboard;
    const tenant = await app.createTenant("pro");
    await addDelivery(app, tenant);
    await addDelivery(app, tenant, { state: "delivered" });
    const { page, context } = await openPage(tenant, "webhooks");
    await page.getByRole("button", { name: "Bulk resend" }).click();
    const many = page.getByRole("dialog", { name: "Bulk resend" });
    await page.route("**/redeliver", async (route) => {
      await many.getByLabel("Status").selectOption("Any status");
      await route.continue();
    });
    const answer = page.waitForResponse("**/redeliver");
    await many.getByRole("button", { name: "Preview matches" }).click();
    assert.equal((await (await answer).json()).matched, 1);
    await page.unroute("**/redeliver");
    await many.getByRole("button", { name: "Preview matches", disabled: false }).click();
    await many.getByText("2 deliveries match.").waitFor();
    await context.close();
  },
);

slowTest("without deliveries the page says how to get some, and an error can be tried again", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await openPage(tenant, "webhooks");
  await page.getByText("No deliveries").waitFor();
  await page.route("**/webhooks/rows?*", (route) => route.abort());
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/webhooks/rows?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No deliveries").waitFor();
  await page.route("**/routers?*", (route) => route.abort());
  await page.getByRole("link", { name: "File routes", exact: true }).click();
  await page.getByText("The server cannot be reached.").waitFor();
  await context.close();
});
