import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { uploadFile } from "../../server/test/support/upload.ts";
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

test("files are searched, and a deletion waits until it can no longer be undone", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const files: { key: string }[] = [];
  for (const name of ["harbour.txt", "mountain.txt"]) {
    files.push(await uploadFile(app, "hello", { key: tenant.live, name }));
  }
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Files");
  await page.getByLabel("Search by name").fill("HARB");
  await page.getByRole("button", { name: "mountain.txt" }).waitFor({ state: "detached" });
  const isThere = async (index: number) =>
    (await app.call("GET", `files/${encodeURIComponent(files[index]?.key ?? "")}`, { key: tenant.live }))
      .status;

  const chooseAndDelete = async () => {
    await page.getByLabel("Choose harbour.txt").check();
    await page.getByRole("button", { name: "Delete 1" }).click();
    await page.getByText("One file will be deleted.").waitFor();
  };
  await chooseAndDelete();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "harbour.txt", exact: true }).waitFor();
  assert.equal(await isThere(0), 200);
  await chooseAndDelete();
  assert.equal(await isThere(0), 200);
  const sent = page.waitForResponse((response) => response.request().method() === "DELETE");
  await goToPage(page, "Logs");
  assert.equal((await sent).status(), 200);
  assert.equal(await isThere(0), 404);
  assert.equal(await isThere(1), 200);
  await context.close();
});

test("metadata is edited", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { key } = await uploadFile(app, "hello", { key: tenant.live, name: "a.txt", metadata: { a: 1 } });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Files");
  await page.getByRole("button", { name: "a.txt", exact: true }).click();
  const editor = page.getByLabel("Metadata (JSON)");
  await page.waitForFunction("document.querySelector('textarea')?.value.includes('1')");
  await editor.fill("{ not json");
  await page.getByRole("button", { name: "Save metadata" }).click();
  await page.getByText("This is not valid JSON").waitFor();
  await editor.fill('{ "b": 2 }');
  await page.getByRole("button", { name: "Save metadata" }).click();
  await page.getByText("Saved").waitFor();
  const { body } = await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live });
  assert.deepEqual(body.file.metadata, { b: 2 });
  await context.close();
});

test("a file route is created, edited and deleted", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  const list = async () =>
    (await app.call("GET", `projects/${tenant.projectId}/routers`, { key: tenant.live })).body.routers;
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await goToPage(page, "File routes");
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("avatars");
  await page.getByRole("button", { name: "+ image/*" }).click();
  await page.getByLabel("Largest file").fill("2");
  await page.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "avatars" });
  await row.getByText("up to 2.0 MB").waitFor();
  const [created] = await list();
  assert.deepEqual(
    [created.slug, created.allowedTypes, created.maxFileSize],
    ["avatars", ["image/*"], 2 ** 21],
  );
  await row.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Largest file").fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await row.getByText("up to 2.0 MB").waitFor({ state: "detached" });
  await row.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete route" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal((await list()).length, 1);
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
