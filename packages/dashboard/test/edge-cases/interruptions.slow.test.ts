import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Route } from "playwright-core";
import { createAccount } from "../../../server/src/projects/accounts/accounts.ts";
import { insertManyFiles } from "../../../server/test/support/many-files.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { addDelivery } from "../support/add-delivery.ts";
import { expectGoodLook } from "../support/good-look.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const urlOf = ({ projectId }: Tenant, path: string) =>
  `${dashboard.app.url}/dashboard/${projectId}/live/${path}`;

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
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("No deliveries").waitFor();

  await page.route("**/assets/claim-*.js", (route) => route.abort());
  await page.goto(`${dashboard.app.url}/dashboard/claim#x`);
  await page.getByRole("button", { name: "Reload" }).waitFor();
  await context.close();
});

test("a list whose next part does not come asks once, and goes on from there when asked to", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await insertManyFiles(app, { projectId: tenant.projectId, count: 250 });
  const { page, context } = await dashboard.open(tenant.accountId);
  let refused = 0;
  const isMore = (url: URL) => url.searchParams.has("cursor");
  await page.route(isMore, (route) => {
    refused++;
    return route.abort();
  });
  await page.goto(urlOf(tenant, "files"));
  await page.getByRole("button", { name: "upload-000249", exact: false }).waitFor();
  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  await page.getByText("The server cannot be reached.").waitFor();
  // Each drawing of the list would ask again.
  for (let times = 0; times < 5; times++) {
    await page.getByRole("button", { name: "Grid" }).click();
    await page.getByRole("button", { name: "List" }).click();
  }
  assert.equal(refused, 1);
  await page.unroute(isMore);
  const answer = page.waitForResponse((response) => isMore(new URL(response.url())));
  await page.getByRole("button", { name: "Try again" }).click();
  const { files } = await (await answer).json();
  assert.match(files[0].name, /^upload-000149/);
  await page.getByText("The server cannot be reached.").waitFor({ state: "detached" });

  for (let count = 0; count < 51; count++) await addDelivery(app, tenant);
  await page.goto(urlOf(tenant, "webhooks"));
  await page.route(isMore, (route) => route.abort());
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute(isMore);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("checkbox").nth(50).waitFor();
  assert.equal(await page.getByText("The server cannot be reached.").count(), 0);
  await context.close();
});

test("a preview that cannot be read says so in words of its own, and is read on another try", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  await uploadFile(dashboard.app, "first words", { key: tenant.live, name: "a.txt" });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "files"));
  const isFile = (url: URL) => url.pathname.endsWith("/a.txt");
  await page.route(isFile, (route) => route.abort());
  await page.getByRole("button", { name: "a.txt", exact: true }).click();
  const panel = page.getByRole("dialog", { name: "a.txt" });
  await panel.getByText("The server cannot be reached. Check your connection and try again.").waitFor();
  await page.unroute(isFile);
  await panel.getByRole("button", { name: "Try again" }).click();
  await panel.getByText("first words").waitFor();
  await context.close();
});

test("a date that is none leaves the page as it is, also in its address", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  await uploadFile(dashboard.app, "x", { key: tenant.live, name: "a.txt" });
  await addDelivery(dashboard.app, tenant, { state: "delivered" });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "files?from=soon&to=9999-12-31"));
  const file = page.getByRole("button", { name: "a.txt", exact: true });
  await file.waitFor();
  await page.getByLabel("From").fill("12026-01-01");
  await file.waitFor();
  await page.goto(urlOf(tenant, "webhooks"));
  await page.getByText("Time", { exact: true }).click();
  for (const label of ["Since", "Until"]) await page.getByLabel(label).fill("12026-01-01T00:00");
  await page.getByRole("button", { name: "photo.jpg" }).waitFor();
  await page.getByRole("button", { name: "Bulk resend" }).click();
  await page.getByLabel("Created since").fill("12026-01-01T00:00");
  await page.getByRole("button", { name: "Preview matches" }).click();
  assert.equal(await page.evaluate("document.querySelector('dialog input').checkValidity()"), false);
  await context.close();
});

test("the address of a project that is gone, or another's, shows no other project in its place", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const stranger = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(stranger, "files"));
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  assert.equal(await page.getByLabel("Project", { exact: true }).inputValue(), "");
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await page.getByRole("heading", { level: 1, name: "tenant" }).waitFor();

  // One that was made elsewhere since the list came is found all the same.
  const other = await context.newPage();
  await other.goto(`${app.url}/dashboard`);
  await other.getByLabel("Project", { exact: true }).selectOption("New project…");
  await other.getByLabel("Name").fill("made elsewhere");
  await other.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await other.getByRole("heading", { level: 1, name: "made elsewhere" }).waitFor();
  const path = new URL(other.url()).pathname;
  await page.evaluate(`history.pushState(null, "", "${path}"); dispatchEvent(new PopStateEvent("popstate"))`);
  await page.getByRole("heading", { level: 1, name: "made elsewhere" }).waitFor();
  await context.close();
});

test("a list that cannot be loaded again stays, and so does the page around it", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "settings/project"));
  const isAsked = (url: URL) => /\/api\/projects$|\/keys$/.test(url.pathname);
  const refuse = (route: Route) => (route.request().method() === "GET" ? route.abort() : route.continue());
  await page.getByLabel("Project name").fill("other name");
  await page.route(isAsked, refuse);
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  assert.equal(await page.getByLabel("Project name").inputValue(), "other name");
  await page.unroute(isAsked);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("option", { name: "other name" }).waitFor({ state: "attached" });
  assert.equal(await page.getByRole("alert").count(), 0);

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Revoke live" }).waitFor();
  await page.route(isAsked, refuse);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("Name").fill("second");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("button", { name: "Copy key" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await page.getByRole("button", { name: "Revoke live" }).waitFor();
  await page.unroute(isAsked);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Revoke second" }).waitFor();
  await context.close();
});

test("what was typed when the session ended is there after the next sign-in, and for nobody else", async () => {
  const { app } = dashboard;
  const password = "correct horse battery";
  const account = await createAccount(app.app.deps, { email: "ida@example.com", password, tier: "pro" });
  await createAccount(app.app.deps, { email: "other@example.com", password, tier: "pro" });
  const { page, context } = await dashboard.open(account.id);
  const signOut = () =>
    page.evaluate(`fetch("/dashboard/api/sign-out", { method: "POST" }).then(() => null)`);
  const signIn = async (email: string) => {
    await page.getByLabel("Email address").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor({ state: "detached" });
  };
  await page.goto(`${app.url}/dashboard`);
  await page.getByLabel("Name").fill("Shop");
  await page.getByRole("button", { name: "Create" }).click();
  await goToPage(page, "File routes");
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("contracts");
  await signOut();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByText("Your session has ended.").waitFor();
  for (let times = 0; times < 3; times++) await page.keyboard.press("Escape");
  await expectGoodLook(page, "signing in above a page");
  await page.setViewportSize({ width: 1280, height: 800 });
  await signIn("ida@example.com");
  assert.equal(await page.getByLabel("Slug").inputValue(), "contracts");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("contracts", { exact: true }).waitFor();

  // A page that was opened meanwhile is loaded by itself.
  await signOut();
  await page.getByRole("link", { name: "Members" }).click();
  await signIn("ida@example.com");
  await page.getByText("since").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);

  await goToPage(page, "File routes");
  await page.getByRole("button", { name: "Create route" }).click();
  await page.getByLabel("Slug").fill("mine");
  await signOut();
  await page.getByRole("button", { name: "Save" }).click();
  await signIn("other@example.com");
  await page.getByText("You have no projects yet").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
  await context.close();
});

test("an upload after the session has ended leads to the sign-in page, and goes on afterwards", async () => {
  const { app } = dashboard;
  const credentials = { email: "late@example.com", password: "correct horse battery" };
  const account = await createAccount(app.app.deps, { ...credentials, tier: "pro" });
  const { page, context } = await dashboard.open(account.id);
  await page.goto(`${app.url}/dashboard`);
  await page.getByLabel("Name").fill("Shop");
  await page.getByRole("button", { name: "Create" }).click();
  await goToPage(page, "Files");
  await page.getByText("No files yet").waitFor();
  await page.evaluate(`fetch("/dashboard/api/sign-out", { method: "POST" }).then((answer) => answer.status)`);
  await page
    .getByLabel("Files to upload")
    .setInputFiles({ name: "late.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
  await page.getByLabel("Email address").fill(credentials.email);
  await page.getByLabel("Password").fill(credentials.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Retry late.txt" }).click();
  await page.getByText("1 of 1 uploaded").waitFor();
  await context.close();
});
