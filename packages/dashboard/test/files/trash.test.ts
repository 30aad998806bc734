import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { deleteEndedFiles } from "../../../server/src/files/delete-files.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { createUploadClient } from "../../../server/test/support/upload-client.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const urlOf = ({ projectId }: Tenant, page: string) =>
  `${dashboard.app.url}/dashboard/${projectId}/live/${page}`;

test("the trash period is set in the dashboard, and each file says when it was deleted and will be gone", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  for (const name of ["a.txt", "b.txt", "c.txt"]) await uploadFile(app, "hello", { key: tenant.live, name });
  await createUploadClient(app, tenant.live).request({ fileName: "open.txt" });
  const { page, context } = await dashboard.open(tenant.accountId);
  const remove = async (...names: string[]) => {
    for (const name of names) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("button", { name: `Delete ${names.length}` }).click();
  };
  await page.goto(urlOf(tenant, "files"));
  await remove("a.txt");
  await page.getByText("One file will be deleted permanently.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();

  await page.goto(urlOf(tenant, "trash"));
  await page.getByText("The trash is off").waitFor();
  await page.getByRole("link", { name: "Change the trash period" }).click();
  const days = page.getByLabel("Days to keep deleted files");
  await days.fill("91");
  const form = page.locator("form", { has: days });
  await form.getByRole("button", { name: "Save" }).click();
  await form.locator("input:invalid").waitFor();
  await days.fill("7");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("Saved").waitFor();
  await page.getByText("7 days", { exact: true }).waitFor();
  const { project } = (await app.call("GET", `projects/${tenant.projectId}`, { key: tenant.live })).body;
  assert.equal(project.trashDays, 7);

  await page.getByRole("link", { name: "Files", exact: true }).click();
  await remove("a.txt", "b.txt");
  await page.getByText("2 files will go to the trash for 7 days.").waitFor();
  await remove("open.txt");
  await page.getByText("One file will be deleted permanently.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await remove("open.txt", "c.txt");
  await page.getByText("2 files will be deleted. Finished uploads go to the trash for 7 days.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: "Trash" }).click();
  const row = page.getByRole("list", { name: "Deleted files" }).getByRole("listitem").first();
  await page.getByText("Deleted and expired files can be restored for 7 days").waitFor();
  await page.reload();
  await row.getByText("Deleted just now").waitFor();
  await row.getByText("Removed for good in 7 days").waitFor();
  await context.close();
});

test("a file that someone else has restored or removed meanwhile is no longer offered", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const client = createUploadClient(app, tenant.live);
  const body = { trashDays: 7 };
  await app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body });
  const [a, b] = [await client.upload(), await client.upload(undefined, { fileName: "b.txt" })];
  await client.removeAll([a.id, b.id]);
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "trash"));
  await page.getByRole("button", { name: "Restore b.txt" }).waitFor();
  await client.restore([a.id]);
  await client.purge([b.id]);
  await page.getByRole("button", { name: "Restore hello.txt" }).click();
  await page.getByText("hello.txt is no longer in the trash.").waitFor();
  await page.getByText("The trash is empty").waitFor();
  await context.close();
});

test("many files are restored or deleted at once, but none that someone else has restored", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const client = createUploadClient(app, tenant.live);
  await app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { trashDays: 7 } });
  const ids: string[] = [];
  for (const fileName of ["a.txt", "b.txt", "c.txt", "d.txt"])
    ids.push((await client.upload(undefined, { fileName })).id);
  await client.removeAll(ids);
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "trash"));
  for (const name of ["a.txt", "b.txt"]) await page.getByLabel(`Select ${name}`).check();
  await page.getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "Restore selected" }).click();
  await page.getByText("2 files restored").waitFor();
  await page.getByLabel("Select a.txt").waitFor({ state: "detached" });
  await page.getByLabel("Select all").check();
  await client.restore(ids.slice(2, 3));
  await page.getByRole("button", { name: "Delete permanently (selected)" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete permanently" });
  await dialog.getByText(/^2 files \(\d+ bytes\) cannot be restored afterwards\.$/).waitFor();
  await dialog.getByRole("button", { name: "Delete permanently" }).click();
  await page.getByText("1 file is no longer in the trash.").waitFor();
  await page.getByText("The trash is empty").waitFor();
  const { files } = (await app.call("GET", "files?status=UPLOADED", { key: tenant.live })).body;
  assert.deepEqual(
    files.map(({ name }: { name: string }) => name),
    ["c.txt", "b.txt", "a.txt"],
  );
  await context.close();
});

test("a file that has to be claimed says so in the list", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const client = createUploadClient(app, tenant.live);
  const route = { slug: "form", claimWithin: 7200 };
  await client.post(`projects/${tenant.projectId}/routers`, route);
  await client.upload(undefined, { routeSlug: "form", expiresIn: 86_400 });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(urlOf(tenant, "files"));
  await page.getByText("Unclaimed, expires in 2 hours").waitFor();
  await context.close();
});

test("only an owner is offered to change the trash period", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { accountId } = await app.createTenant("free");
  const member = { projectId: tenant.projectId, accountId, role: "developer" as const, now: 0 };
  await app.app.deps.db.run(putMember, member);
  const { page, context } = await dashboard.open(accountId);
  await page.goto(urlOf(tenant, "trash"));
  await page.getByText("The project’s owner can change the trash period.").waitFor();
  assert.equal(await page.getByRole("link", { name: "Change the trash period" }).count(), 0);
  await page.goto(urlOf(tenant, "settings/project"));
  await page.getByText("Only the owner can").waitFor();
  assert.equal(await page.getByLabel("Days to keep deleted files").count(), 0);
  await context.close();
});

test("what is said of an expiry is what happens, with a trash and without", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { projectId, live: key } = tenant;
  const upload = async (name: string) => {
    const file = await uploadFile(app, "hello", { key, name });
    await app.call("PATCH", `files/${file.key}`, { key, body: { expiresIn: 3 * 86_400 } });
    return file.key.split("/")[2];
  };
  const { page, context } = await dashboard.open(tenant.accountId);
  const showExpiry = async (name: string, end: string) => {
    await page.goto(urlOf(tenant, `files/${await upload(name)}`));
    await page.getByText(/^in 3 days \(.+\)$/).waitFor();
    await page.getByRole("button", { name: "Change expiry" }).click();
    const dialog = page.getByRole("dialog", { name: "Change expiry" });
    await dialog.getByText(/^Expires in 3 days \(.+\)\.$/).waitFor();
    await dialog.getByText(`At that time, the file stops working and ${end}.`).waitFor();
    await dialog.getByLabel("Expires").selectOption("Never");
    await dialog.getByText("Removes the expiry.").waitFor();
  };
  const expire = async () => {
    app.clock.advance(4 * 86_400_000);
    await deleteEndedFiles(app.app.deps);
    const { files } = (await app.call("GET", "files?status=DELETED", { key })).body;
    return files.map(({ name }: { name: string }) => name);
  };
  await showExpiry("a.txt", "is deleted permanently");
  assert.deepEqual(await expire(), []);

  await app.call("PATCH", `projects/${projectId}`, { key, body: { trashDays: 7 } });
  app.clock.advance(-4 * 86_400_000);
  await showExpiry("b.txt", "goes to the trash for 7 days");
  await page.goto(urlOf(tenant, "routes"));
  await page.getByRole("button", { name: "Edit" }).click();
  await page.locator("summary", { hasText: "Expiry and claims" }).click();
  await page.getByText("Expired files go to the trash for 7 days.").waitFor();
  assert.deepEqual(await expire(), ["b.txt"]);
  await context.close();
});
