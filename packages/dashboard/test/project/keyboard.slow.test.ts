import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { addDelivery } from "../support/add-delivery.ts";
import { focusedName, tabTo, testByKeyboard } from "../support/keyboard.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

/** Opens the palette, types, and runs what comes first. */
async function runCommand(page: Page, text: string, label: string): Promise<void> {
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  await page.keyboard.type(text);
  await page.locator("[role=option][aria-selected=true]").getByText(label).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
}

test("the palette finds pages, files, docs and actions, and keeps the environment", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { id } = await uploadFile(app, "x", { key: tenant.test, name: "needle.txt" });
  const { page, context } = await dashboard.open(tenant.accountId);
  const inTest = `${app.url}/dashboard/${tenant.projectId}/test`;
  await page.goto(`${inTest}/overview`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await runCommand(page, "webho", "Webhooks");
  await page.waitForURL(`${inTest}/webhooks`);
  await runCommand(page, "needle", "needle.txt");
  await page.waitForURL(`${inTest}/files/${id}`);
  await page.getByRole("dialog", { name: "needle.txt" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL(`${inTest}/files`);
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("presigned");
  await page.locator("[role=option]").first().waitFor();
  await page.getByRole("dialog").getByText("Documentation", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await runCommand(page, "switch to live", "Switch to live");
  await page.waitForURL(`${app.url}/dashboard/${tenant.projectId}/live/overview`);
  await context.close();
});

testByKeyboard("a file's neighbours, the order of the list, and access of several files", async (view) => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const keys: string[] = [];
  for (const [name, bytes] of [
    ["b.txt", "123"],
    ["a.txt", "1"],
    ["c.txt", "12"],
  ] as const)
    keys.push((await uploadFile(app, bytes, { key: tenant.live, name })).key);
  const { page, context } = await dashboard.open(tenant.accountId, view);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const names = page.locator("table .named button");
  const shows = (...expected: string[]) =>
    until(async () => (await names.allTextContents()).join() === expected.join());
  await shows("c.txt", "a.txt", "b.txt");
  await tabTo(page, "Name");
  await page.keyboard.press("Enter");
  await shows("a.txt", "b.txt", "c.txt");
  await tabTo(page, "Size");
  await page.keyboard.press("Enter");
  await shows("b.txt", "c.txt", "a.txt");

  await tabTo(page, "b.txt");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "b.txt" }).waitFor();
  await tabTo(page, "Next file");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "c.txt" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  for (const name of ["Select b.txt", "Select c.txt"]) {
    await tabTo(page, name);
    await page.keyboard.press("Space");
  }
  await tabTo(page, "Access");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Change access" });
  await dialog.waitFor();
  await tabTo(page, "Change 2 files");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  const access = await Promise.all(
    keys.map(async (key) => {
      const { body } = await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live });
      return body.file.access;
    }),
  );
  assert.deepEqual(access, ["private", "public", "private"]);
  await context.close();
});

testByKeyboard("a delivery is found by its file, read and resent, and its file opened", async (view) => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const failed = { status_code: 500, error: "server_error" as const, response: "out of order" };
  await addDelivery(app, tenant, { fileName: "lost.jpg", attempts: [failed] });
  await addDelivery(app, tenant, { fileName: "other.jpg", state: "delivered" });
  const { page, context } = await dashboard.open(tenant.accountId, view);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/webhooks`);
  await page.getByRole("button", { name: "other.jpg" }).waitFor();
  await page.getByText("50%").waitFor();
  await tabTo(page, "Search by file");
  await page.keyboard.type("LOST");
  await page.getByRole("button", { name: "other.jpg" }).waitFor({ state: "detached" });
  await tabTo(page, "lost.jpg");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delivery" });
  await dialog.getByText("out of order").waitFor();
  await tabTo(page, "Resend");
  await page.keyboard.press("Enter");
  await dialog.getByText("Pending").waitFor();
  await context.close();
});

testByKeyboard("an upload link is created from the menu, and rejected URLs say why", async (view) => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId, view);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  await tabTo(page, "More ways to upload");
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(focusedName), "Create upload link…");
  await page.keyboard.press("Enter");
  await tabTo(page, "Create link");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText(/^upg_/).waitFor();
  await page.getByRole("dialog").getByText(`${app.url}/form/upg_`).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await tabTo(page, "More ways to upload");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Add from URL" }).waitFor();
  await page.keyboard.type("https://localhost/photo.jpg");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await context.close();
});
