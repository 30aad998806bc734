import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { signInAs } from "../../../server/test/support/console-client.ts";
import { insertManyFiles } from "../../../server/test/support/many-files.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

const run = promisify(execFile);

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("several selected files are downloaded as one ZIP, a single one as itself", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  for (const name of ["one.txt", "two.txt", "two.txt"])
    await uploadFile(app, name, { key: tenant.live, name });
  const { page } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const boxes = page.getByRole("checkbox", { name: /^Select (?:one|two)/ });
  await boxes.first().waitFor();
  const save = async () => {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download", exact: true }).click();
    return downloading;
  };
  await boxes.nth(2).check();
  assert.equal((await save()).suggestedFilename(), "one.txt");

  await boxes.nth(0).check();
  await boxes.nth(1).check();
  const archive = await save();
  assert.match(archive.suggestedFilename(), /^files-\d{4}-\d\d-\d\d\.zip$/);
  const path = await archive.path();
  await run("unzip", ["-tq", path]);
  const { stdout } = await run("unzip", ["-Z1", path]);
  assert.deepEqual(stdout.trim().split("\n"), ["one.txt", "two.txt", "two (2).txt"]);
  assert.ok(page.url().endsWith("/files"), "the page stays");
});

test("access and expiry of several files change at once", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const keys: string[] = [];
  for (const name of ["a.txt", "b.txt", "c.txt"])
    keys.push((await uploadFile(app, "hello", { key: tenant.live, name })).key);
  const files = async () =>
    Promise.all(
      keys.map(async (key) => {
        const { body } = await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live });
        return body.file;
      }),
    );
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const dialog = page.getByRole("dialog");
  for (const name of ["a.txt", "b.txt"]) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole("button", { name: "Expiry", exact: true }).click();
  await dialog.getByLabel("Expires").selectOption("In 1 day");
  await dialog.getByRole("button", { name: "Change 2 files" }).click();
  await dialog.waitFor({ state: "detached" });
  await until(async () => (await page.locator("td .tag", { hasText: "Expires" }).count()) === 2);
  const ends = (await files()).map(({ expiresAt }) => expiresAt);
  assert.equal(ends[2], null);
  for (const end of ends.slice(0, 2))
    assert.ok(Math.abs(Date.parse(end) - app.clock.now() - 86_400_000) < 600_000, end);
  await page.getByRole("button", { name: "Expiry", exact: true }).click();
  await dialog.getByLabel("Expires").selectOption("Never");
  await dialog.getByRole("button", { name: "Change 2 files" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Access", exact: true }).click();
  await dialog.getByRole("button", { name: "Change 2 files" }).click();
  await dialog.waitFor({ state: "detached" });
  const changed = (await files()).map(({ access, expiresAt }) => [access, expiresAt]);
  assert.deepEqual(changed, [
    ["private", null],
    ["private", null],
    ["public", null],
  ]);
  await context.close();
});

/** Selects what is loaded, and then all that match. */
async function selectMatching(page: Page, count: number): Promise<void> {
  await page.getByLabel("Select all loaded files").check();
  await page.getByRole("button", { name: "Select all that match" }).click();
  await page.getByText(`All ${count} that match are selected`).waitFor();
}

test("access and metadata change for all that match a search, loaded or not, and all are downloaded", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await insertManyFiles(app, { projectId: tenant.projectId, count: 450 });
  for (const name of ["one.csv", "two.csv"]) await uploadFile(app, name, { key: tenant.live, name });
  const { page, context } = await dashboard.open(tenant.accountId);
  const files = `${app.url}/dashboard/${tenant.projectId}/live/files`;
  const dialog = page.getByRole("dialog");
  await page.goto(`${files}?name=upload-`);
  await page.setViewportSize({ width: 1024, height: 800 });
  await selectMatching(page, 450);
  const last = await page.getByRole("button", { name: "Clear selection" }).boundingBox();
  assert.ok(last !== null && last.x + last.width < 1024, "the bar fits beside the navigation");
  await page.getByRole("button", { name: "Access", exact: true }).click();
  await dialog.getByRole("button", { name: "Change 450 files" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("that match are selected").waitFor({ state: "detached" });
  const count = async (query: string) => {
    const session = await signInAs(app, tenant.accountId);
    return (await session("GET", `/in/${tenant.projectId}/live/search/count?${query}`)).body.count;
  };
  assert.equal(await count("access=private"), 450);

  await page.goto(`${files}?name=upload-000`);
  await selectMatching(page, 450);
  await page.getByRole("button", { name: "Metadata", exact: true }).click();
  await dialog.getByLabel("Metadata (JSON)").fill('{"order":12345678901234567890}');
  await dialog.getByRole("button", { name: "Change 450 files" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Metadata (JSON)").fill('{"order":7}');
  await dialog.getByRole("button", { name: "Change 450 files" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await count("metadata=order%3D7"), 450);

  await page.goto(files);
  await selectMatching(page, 452);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  const path = await (await downloading).path();
  const { stdout } = await run("unzip", ["-p", path, "one.csv"]);
  assert.equal(stdout, "one.csv");
  await context.close();
});

test("a viewer selects and downloads, and is offered no change", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  for (const name of ["one.txt", "two.txt"]) await uploadFile(app, name, { key: tenant.live, name });
  const { accountId } = await app.createTenant("free");
  const member = { projectId: tenant.projectId, accountId, role: "viewer", now: 0 } as const;
  await app.app.deps.db.run(putMember, member);
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  await page.getByLabel("Select all loaded files").check();
  const bar = page.getByRole("status").filter({ hasText: "2 selected" });
  assert.deepEqual(await bar.getByRole("button").allTextContents(), ["Download", "Clear selection"]);
  const save = async () => {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download", exact: true }).click();
    const path = await (await downloading).path();
    return (await run("unzip", ["-Z1", path])).stdout.trim().split("\n");
  };
  assert.deepEqual(await save(), ["one.txt", "two.txt"]);
  await page.getByLabel("Select one.txt").uncheck();
  assert.deepEqual(await save(), ["two.txt"]);
  await context.close();
});
