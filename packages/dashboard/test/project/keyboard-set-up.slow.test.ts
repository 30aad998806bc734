import assert from "node:assert/strict";
import { after, before } from "node:test";
import { createAccount } from "../../../server/src/projects/accounts/accounts.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { expectVisibleFocus, pressOn, pressOnPage, tabTo, testByKeyboard } from "../support/keyboard.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

// With keyboard.slow.test.ts and the first of main-tasks.test.ts: every main task without a mouse.
let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

testByKeyboard("the installation is claimed, and a key created and revoked", async (view) => {
  const unclaimed = await startDashboard();
  after(() => unclaimed.close());
  const { app } = unclaimed;
  const { page, context } = await unclaimed.open(null, view);
  await page.goto(`${app.url}/dashboard/claim#${app.app.firstStart?.loginToken}`);
  await page.getByLabel("Email address").waitFor();
  await tabTo(page, "Email address");
  await page.keyboard.type("me@example.com");
  await page.keyboard.press("Tab");
  await page.keyboard.type("correct horse battery");
  await page.keyboard.press("Enter");
  await page.getByLabel("Project", { exact: true }).waitFor();
  await pressOnPage(page, "Settings");
  await page.getByRole("button", { name: "Create key" }).waitFor();
  await pressOn(page, "Create key");
  await page.keyboard.type("web server");
  await page.keyboard.press("Enter");
  await page.locator("output").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expectVisibleFocus(page, "after the dialog:");
  await page.getByRole("button", { name: "Revoke web server" }).waitFor();
  await pressOn(page, "Revoke web server");
  await pressOn(page, "Revoke key");
  await page.getByRole("button", { name: "Revoke web server" }).waitFor({ state: "detached" });
  await expectVisibleFocus(page, "after the key is gone:");
  await context.close();
});

testByKeyboard("signing in, a project, a file route and a key that works", async (view) => {
  const { app } = dashboard;
  const email = `${view.colorScheme ?? "light"}@example.com`;
  const credentials = { email, password: "correct horse battery" };
  await createAccount(app.app.deps, { ...credentials, tier: "free" });
  const { page, context } = await dashboard.open(null, view);
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await tabTo(page, "Email address");
  await page.keyboard.type(credentials.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(credentials.password);
  await page.keyboard.press("Enter");
  await page.getByText("You have no projects yet").waitFor();
  await tabTo(page, "Name");
  await page.keyboard.type("Shop");
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
  await pressOnPage(page, "File routes");
  await page.getByRole("heading", { level: 1, name: "File routes" }).waitFor();
  await pressOn(page, "Create route");
  await page.getByRole("dialog", { name: "Create route" }).waitFor();
  await tabTo(page, "Slug");
  await page.keyboard.type("receipts");
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "receipts" }).waitFor();

  await pressOnPage(page, "Settings");
  await page.getByRole("button", { name: "Create key" }).waitFor();
  await pressOn(page, "Create key");
  await page.getByRole("dialog", { name: "Create key" }).waitFor();
  await tabTo(page, "Name");
  await page.keyboard.type("backend");
  await page.keyboard.press("Enter");
  const secret = (await page.locator("output").textContent()) ?? "";
  await uploadFile(app, "paid", { key: secret, name: "receipt.txt", routeSlug: "receipts" });
  await context.close();
});

testByKeyboard("a file is uploaded, deleted, and the deletion undone", async (view) => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId, view);
  // Listened for from the start: the browser is told to hand choosers over, which takes a moment.
  const chooser = page.waitForEvent("filechooser");
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  await page.getByRole("button", { name: "Upload", exact: true }).waitFor();
  await tabTo(page, "Upload");
  await page.keyboard.press("Enter");
  await (await chooser).setFiles({
    name: "first.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("first words"),
  });
  await page.locator("table").getByRole("button", { name: "first.txt", exact: true }).waitFor();
  await pressOn(page, "first.txt");
  await page.getByRole("dialog", { name: "first.txt" }).getByText("first words").waitFor();
  await pressOn(page, "Delete");
  await page.getByText("No files left").waitFor();
  await pressOn(page, "Undo");
  await page.locator("table").getByRole("button", { name: "first.txt", exact: true }).waitFor();
  assert.equal((await app.call("GET", "files", { key: tenant.live })).body.files.length, 1);
  await context.close();
});

testByKeyboard("a member is invited, and the project renamed", async (view) => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId, view);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/members`);
  await page.getByRole("button", { name: "Invite member" }).waitFor();
  await pressOn(page, "Invite member");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "Email address");
  await page.keyboard.type("guest@example.com");
  await page.keyboard.press("Enter");
  await page.locator("output").getByText("/dashboard/join#").waitFor();
  await page.keyboard.press("Escape");
  await page.getByLabel("Invitations").getByText("guest@example.com", { exact: true }).waitFor();

  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/settings/project`);
  await page.getByLabel("Project name").waitFor();
  await tabTo(page, "Project name");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("Harbour guide");
  await page.keyboard.press("Enter");
  await page
    .getByLabel("Project", { exact: true })
    .getByText("Harbour guide")
    .first()
    .waitFor({ state: "attached" });
  await context.close();
});
