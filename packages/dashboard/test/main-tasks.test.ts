import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Dashboard, goToPage, startDashboard } from "./support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("the owner claims the installation and makes, sees once and revokes a key, by keyboard alone", async () => {
  const { app } = dashboard;
  const { page, context } = await dashboard.open(null);
  await page.goto(`${app.url}/dashboard/claim#${app.app.firstStart?.loginToken}`);
  await page.getByLabel("E-mail address").focus();
  await page.keyboard.type("me@example.com");
  await page.keyboard.press("Tab");
  await page.keyboard.type("correct horse battery");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Settings", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Create key" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("web server");
  await page.keyboard.press("Enter");

  const secret = (await page.locator("output").textContent()) ?? "";
  assert.match(secret, /^svc_live_/);
  assert.equal((await app.call("GET", "files", { key: secret })).status, 200);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("web server").first().waitFor();
  assert.ok(!(await page.content()).includes(secret));
  await page.reload();
  await page.getByText("web server").first().waitFor();
  assert.ok(!(await page.content()).includes(secret));
  const stored = await page.evaluate(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href])",
  );
  assert.ok(!String(stored).includes(secret));

  await page.getByRole("button", { name: "Revoke web server" }).focus();
  await page.keyboard.press("Enter");
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Revoke key" });
  await confirm.focus();
  await page.keyboard.press("Enter");
  await page.getByText("web server").first().waitFor({ state: "detached" });
  assert.equal((await app.call("GET", "files", { key: secret })).status, 401);
  await context.close();
});

test("signing in with a password, and out again", async () => {
  const { page, context } = await dashboard.open(null);
  await page.goto(`${dashboard.app.url}/dashboard`);
  await page.getByLabel("E-mail address").fill("me@example.com");
  await page.getByLabel("Password").fill("not this one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The e-mail address or the password is not right.").waitFor();
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "me@example.com" }).click();
  await page
    .getByRole("listitem")
    .filter({ hasText: "this one" })
    .getByRole("button", { name: "Sign out" })
    .click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await context.close();
});

test("what cannot be loaded says why and can be tried again", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Overview");
  await page.route("**/logs?*", (route) => route.abort());
  await goToPage(page, "Logs");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/logs?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText('Project "tenant" was created.').waitFor();
  await context.close();
});

test("so do the pages of routes, images, the installation and the account", async () => {
  const { app } = dashboard;
  const { accountId, projectId } = app.owner;
  const { page, context } = await dashboard.open(accountId);
  const inProject = `/p/${projectId}/live`;
  for (const [path, broken, shown] of [
    [`${inProject}/routes`, "**/routers*", "default"],
    [`${inProject}/studio`, "**/search?*", "No images yet"],
    ["/admin", "**/admin/status", "Nothing has run yet"],
    ["/admin", "**/admin/accounts*", "enterprise"],
    ["/account", "**/api/sessions", "this one"],
    ["/account", "**/account/factors", "No passkeys yet"],
  ] as const) {
    await page.route(broken, (route) => route.abort());
    await page.goto(`${app.url}/dashboard${path}`);
    await page.getByText("The server cannot be reached.").waitFor();
    await page.unroute(broken);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("main").getByText(shown).first().waitFor();
  }
  await context.close();
});

test("a project without file routes says so", async () => {
  const { app } = dashboard;
  const { accountId, projectId, live } = await app.createTenant("pro");
  const { routers } = (await app.call("GET", `projects/${projectId}/routers`, { key: live })).body;
  for (const { id } of routers) {
    assert.equal((await app.call("DELETE", `routers/${id}`, { key: live })).status, 200);
  }
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/p/${projectId}/live/routes`);
  await page.getByText("No file routes").waitFor();
  await context.close();
});
