import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { slowTest } from "../../../../test/support/quick-run.ts";
import { createAccount } from "../../../server/src/projects/accounts/accounts.ts";
import { createUploadClient } from "../../../server/test/support/upload-client.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("the owner claims the installation and makes, sees once and revokes a key, by keyboard alone", async () => {
  const { app } = dashboard;
  const { page, context } = await dashboard.open(null);
  await page.goto(`${app.url}/dashboard/claim#${app.app.firstStart?.loginToken}`);
  await page.getByLabel("Email address").focus();
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

test("a new user goes from nothing to a served file: project, route, key, upload, and the file deleted again", async () => {
  const { app } = dashboard;
  const credentials = { email: "new@example.com", password: "correct horse battery" };
  await createAccount(app.app.deps, { ...credentials, tier: "free" });
  const { page, context } = await dashboard.open(null);
  await page.goto(`${app.url}/dashboard`);
  await page.getByLabel("Email address").fill(credentials.email);
  await page.getByLabel("Password").fill(credentials.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("You have no projects yet").waitFor();
  await page.getByLabel("Name").fill("Shop");
  await page.getByRole("button", { name: "Create" }).click();

  await goToPage(page, "File routes");
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("notes");
  await page.getByLabel("Another type").fill("text/plain");
  await page.getByRole("button", { name: "Add type" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("listitem").filter({ hasText: "notes" }).waitFor();
  await goToPage(page, "Settings");
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("web server");
  await dialog.getByRole("button", { name: "Create" }).click();
  const client = createUploadClient(app, (await dialog.locator("output").textContent()) ?? "");
  await page.keyboard.press("Escape");

  const refused = await client.requestAnswer({ routeSlug: "notes", contentType: "image/png" });
  assert.equal(refused.body.error.code, "INVALID_FILE_TYPE");
  const file = await client.upload(Buffer.from("first words"), { routeSlug: "notes", fileName: "first.txt" });
  await goToPage(page, "Files");
  await page.getByRole("button", { name: "first.txt", exact: true }).click();
  await dialog.getByText("first words").waitFor();
  assert.equal(await (await fetch(file.url)).text(), "first words");
  await dialog.getByRole("button", { name: "Delete" }).click();
  const sent = page.waitForResponse((response) => response.url().endsWith("/files/delete"));
  await goToPage(page, "Logs");
  assert.equal((await sent).status(), 200);
  assert.equal((await fetch(file.url)).status, 404);

  for (const name of ["Blog", "One too many"]) {
    await page.getByLabel("Project", { exact: true }).selectOption("New project…");
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByRole("button", { name: "Create" }).click();
    if (name === "Blog") await page.getByRole("heading", { level: 1, name }).waitFor();
  }
  await dialog.getByRole("alert").getByText("2 projects").waitFor();
  await context.close();
});

test("signing in with a password, and out again", async () => {
  const { page, context } = await dashboard.open(null);
  await page.goto(`${dashboard.app.url}/dashboard`);
  await page.getByLabel("Email address").fill("me@example.com");
  await page.getByLabel("Password").fill("not this one");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Incorrect email address or password.").waitFor();
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "me@example.com" }).click();
  await page
    .getByRole("listitem")
    .filter({ hasText: "This browser" })
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

slowTest("so do the pages of routes, images, the installation and the account", async () => {
  const { app } = dashboard;
  const { accountId, projectId } = app.owner;
  const { page, context } = await dashboard.open(accountId);
  const inProject = `/${projectId}/live`;
  for (const [path, broken, shown] of [
    [`${inProject}/routes`, "**/routers*", "default"],
    [`${inProject}/studio`, "**/search?*", "No images yet"],
    ["/admin", "**/admin/status", "Webhooks waiting"],
    ["/admin", "**/admin/accounts*", "enterprise"],
    ["/account", "**/api/sessions", "This browser"],
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
  await page.goto(`${app.url}/dashboard/${projectId}/live/routes`);
  await page.getByText("No file routes").waitFor();
  await context.close();
});
