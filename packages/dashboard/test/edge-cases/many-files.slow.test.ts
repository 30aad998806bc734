import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { insertManyFiles } from "../../../server/test/support/many-files.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { stopClock } from "../support/settled.ts";

const count = 100_000;
let dashboard: Dashboard;
let tenant: Tenant;
before(async () => {
  dashboard = await startDashboard();
  tenant = await dashboard.app.createTenant("pro");
  const { projectId } = tenant;
  const describe = (index: number) =>
    index === 7 ? { name: "the oldest needle.txt", metadata: '{"colour":"violet"}' } : {};
  await insertManyFiles(dashboard.app, { projectId, count, describe });
});
after(() => dashboard.close());

test("a project with 100,000 files is scrolled and searched, and draws no more than a screen of it", async (t) => {
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/files`);
  const rows = page.getByRole("table", { name: "Files" }).getByRole("row");
  await page.getByRole("button", { name: "upload-099999.txt" }).waitFor();
  const seen = new Set<string>();
  for (let screens = 0; screens < 12; screens++) {
    await page.mouse.wheel(0, 4_000);
    const answer = page.waitForResponse((response) => response.url().includes("/search?"));
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    await answer;
    for (const text of await rows.allTextContents()) seen.add(text);
    assert.ok((await rows.count()) < 100, `${await rows.count()} rows are drawn`);
  }
  assert.ok(seen.size > 300, `${seen.size} files were seen`);

  await page.evaluate("scrollTo(0, 0)");
  await page.getByRole("button", { name: "Name", exact: true }).click();
  await page.getByRole("button", { name: "the oldest needle.txt" }).waitFor();
  for (const first of ["upload-099999.txt", "upload-000000.jpg"]) {
    await page.getByRole("button", { name: "Size", exact: true }).click();
    await rows.nth(1).getByRole("button", { name: first }).waitFor();
  }
  for (const first of ["upload-099999.txt", "upload-000000.jpg"]) {
    await page.getByRole("button", { name: "Created", exact: true }).click();
    await rows.nth(1).getByRole("button", { name: first }).waitFor();
  }
  await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/files`);
  await page.getByRole("button", { name: "upload-099999.txt" }).waitFor();

  const search = async (label: string, text: string) => {
    const answer = page.waitForResponse((response) => response.url().includes("/search?"));
    await page.getByLabel(label).fill(text);
    await (await answer).finished();
    const { responseEnd, requestStart } = (await answer).request().timing();
    t.diagnostic(`${label} "${text}": ${Math.round(responseEnd - requestStart)} ms`);
  };
  await search("Search by name", "oldest needle");
  await page.getByRole("button", { name: "the oldest needle.txt" }).waitFor();
  assert.equal(await rows.count(), 2);
  await search("Search by name", "");
  await page.getByText("Route, access, date, metadata").click();
  await search("Metadata", "colour=violet");
  await page.getByRole("button", { name: "the oldest needle.txt" }).waitFor();
  await search("Metadata", "colour=green");
  await page.getByText("No matching files").waitFor();
  await context.close();
});

test("all that match a search are chosen, loaded or not, deleted when the window closes, and not when undone", async () => {
  const { page, context } = await dashboard.open(tenant.accountId);
  const url = `${dashboard.app.url}/dashboard/${tenant.projectId}/live/files?name=upload-0981`;
  const other = `${dashboard.app.url}/dashboard/${tenant.projectId}/live/files?name=upload-098`;
  await page.clock.install();
  await page.goto(other);
  await page.getByRole("button", { name: "upload-098999.txt" }).waitFor();
  await stopClock(page);
  await page.getByLabel("Select all loaded files").check();
  await page.getByRole("button", { name: "Select all that match" }).click();
  await page.getByText("All 1,000 that match are selected").waitFor();
  // Taking one out again leaves those that are loaded.
  await page
    .getByRole("checkbox", { name: /^Select upload/ })
    .first()
    .uncheck();
  await page.getByText("All 1,000 that match are selected").waitFor({ state: "detached" });
  await page.getByLabel("Select all loaded files").check();
  await page.getByRole("button", { name: "Select all that match" }).click();
  await page.getByRole("button", { name: "Delete 1,000" }).click();
  await page.getByText("1,000 files will be deleted permanently.").waitFor();
  await page.getByText("No files left").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "upload-098999.txt" }).waitFor();
  await page.getByLabel("Select all loaded files").check();
  await page.getByRole("button", { name: "Select all that match" }).click();
  await page.getByRole("button", { name: "Delete 1,000" }).click();
  const sent = page.waitForResponse((response) => response.url().endsWith("/search/delete"));
  await page.clock.resume();
  await page.getByRole("link", { name: "Logs", exact: true }).click();
  assert.deepEqual(await (await sent).json(), { deleted: 1000 });
  await page.goto(url);
  await page.getByText("No matching files").waitFor();
  await context.close();
});

test("any number of files is chosen and deleted at once", async () => {
  const { page, context } = await dashboard.open(tenant.accountId);
  const url = `${dashboard.app.url}/dashboard/${tenant.projectId}/live/files?name=upload-0999`;
  await page.goto(url);
  await page.getByLabel("Select all loaded files").check();
  await page.getByRole("button", { name: "Delete 100" }).click();
  await page.getByText("100 files will be deleted permanently.").waitFor();
  const sent = page.waitForResponse((response) => response.url().endsWith("/files/delete"));
  await page.getByRole("link", { name: "Logs", exact: true }).click();
  assert.deepEqual(await (await sent).json(), { deleted: 100 });
  await page.goto(url);
  await page.getByText("No matching files").waitFor();
  await context.close();
});
