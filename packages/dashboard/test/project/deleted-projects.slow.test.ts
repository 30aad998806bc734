import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { signInAs } from "../../../server/test/support/console-client.ts";
import { insertManyFiles } from "../../../server/test/support/many-files.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { expectGoodLook, phone } from "../support/good-look.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

/** A project of the account that was deleted with files in it. */
async function leaveProject(accountId: string, name: string, count: number) {
  const { app } = dashboard;
  const call = await signInAs(app, accountId);
  const { project } = (await call("POST", "/projects", { name })).body;
  await insertManyFiles(app, { projectId: project.id, count });
  assert.equal((await call("DELETE", `/projects/${project.id}`)).status, 200);
  return { id: project.id as string, slug: project.slug as string };
}

async function openAccount(accountId: string, options: BrowserContextOptions = {}) {
  const opened = await dashboard.open(accountId, options);
  const answer = opened.page.waitForResponse("**/projects/deleted");
  await opened.page.goto(`${dashboard.app.url}/dashboard/account`);
  const { projects } = await (await answer).json();
  await untilSettled(opened.page);
  return { ...opened, projects, section: opened.page.getByRole("heading", { name: "Deleted projects" }) };
}

test("what deleted projects left is purged by keyboard, when the slug is typed, until nothing is left", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const file = await uploadFile(app, "12345", { key: tenant.live });
  const { slug } = (await app.call("GET", `projects/${tenant.projectId}`, { key: tenant.live })).body.project;
  await app.call("DELETE", `projects/${tenant.projectId}`, { key: tenant.live });
  const other = await leaveProject(tenant.accountId, "Other", 2);

  const { page, context, section } = await openAccount(tenant.accountId);
  await section.waitFor();
  const list = page.getByRole("list", { name: "Deleted projects" });
  await list.getByText("1 file, 5 B").waitFor();
  await page.getByRole("button", { name: "Purge tenant" }).focus();
  await page.keyboard.press("Enter");
  const purge = page.getByRole("button", { name: "Purge project" });
  await page.keyboard.type("tenant");
  assert.equal(await purge.isDisabled(), true);
  assert.equal((await fetch(file.url)).status, 200);
  await page.getByLabel("to confirm").fill(slug);
  await page.keyboard.press("Enter");
  await page.getByRole("status").getByText("tenant was purged: 1 file, 5 B.").waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await list.getByText("tenant").waitFor({ state: "detached" });
  assert.equal((await fetch(file.url)).status, 404);

  await page.getByRole("button", { name: "Purge Other" }).click();
  await page.getByLabel("to confirm").fill(other.slug);
  await purge.click();
  await page.getByRole("status").getByText("Other was purged: 2 files").waitFor();
  await section.waitFor({ state: "detached" });
  await context.close();
});

test("who pays for none of them sees nothing of them, whatever they were in the project", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { accountId } = await app.createTenant("free");
  const left = await leaveProject(tenant.accountId, "Other", 1);
  await app.app.deps.db.run(putMember, { projectId: left.id, accountId, role: "owner", now: 0 });
  const { context, projects, section } = await openAccount(accountId);
  assert.deepEqual(projects, []);
  assert.equal(await section.count(), 0);
  await context.close();
});

test("a purge shows that it goes on, and one that fails says why and can be tried again", async () => {
  const { accountId } = await dashboard.app.createTenant("pro");
  const { slug } = await leaveProject(accountId, "Large", 250);
  const { page, context, section } = await openAccount(accountId);
  const held = Promise.withResolvers<void>();
  await page.route("**/purge", async (route) => {
    await held.promise;
    await route.abort();
  });
  await page.getByRole("button", { name: "Purge Large" }).click();
  await page.getByLabel("to confirm").fill(slug);
  await page.getByRole("button", { name: "Purge project" }).click();
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.getByRole("button", { name: "Purging…" }).isDisabled(), true);
  await page.route("**/projects/deleted", async (route) => {
    const answer = await route.fetch();
    const { projects } = await answer.json();
    const [{ storedBytes, ...project }] = projects;
    await route.fulfill({ json: { projects: [{ ...project, storedBytes: storedBytes - 1234 }] } });
  });
  await dialog.locator("progress[value='1234']").waitFor();
  await page.unroute("**/projects/deleted");
  held.resolve();
  await dialog.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await dialog.getByRole("progressbar").waitFor({ state: "detached" });

  await page.unroute("**/purge");
  await page.getByRole("button", { name: "Purge project" }).click();
  await page.getByRole("status").getByText("Large was purged: 250 files").waitFor();
  await section.waitFor({ state: "detached" });
  await page.route("**/projects/deleted", (route) => route.abort());
  await page.reload();
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/projects/deleted");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("The server cannot be reached.").waitFor({ state: "detached" });
  await context.close();
});

test("the list and its dialog are accessible, fit a phone and show what names hide", async () => {
  const { accountId } = await dashboard.app.createTenant("pro");
  await leaveProject(accountId, "very-long-".repeat(9), 1);
  await leaveProject(accountId, "a\u202eb <b>c</b>", 1_001);
  const { page, context, section } = await openAccount(accountId, { viewport: phone });
  await section.waitFor();
  await page.getByText("more than 1,000 files").waitFor();
  await expectGoodLook(page, "deleted projects");
  await page.getByRole("button", { name: "Purge a‹U+202E›b <b>c</b>" }).click();
  await page.getByRole("dialog").getByText("a‹U+202E›b <b>c</b>").waitFor();
  await expectGoodLook(page, "the dialog that purges a project");
  await context.close();
});
