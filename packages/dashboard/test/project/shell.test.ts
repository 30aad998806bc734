import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { slowTest } from "../../../../test/support/quick-run.ts";
import { signInAs } from "../../../server/test/support/console-client.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { listFirstCalls } from "../../src/first-calls.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

const shellMaxBytes = 150 * 1024;

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("the first load is small, and pages come when they are opened", async () => {
  const { app } = dashboard;
  const { accountId } = await app.createTenant("pro");
  const { page, context } = await dashboard.open(accountId);
  const scripts: Promise<Buffer>[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith(".js")) scripts.push(response.body());
  });
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Overview");
  await untilSettled(page);
  const atFirst = await Promise.all(scripts);
  const sizeBytes = atFirst.reduce((sum, body) => sum + gzipSync(body).length, 0);
  assert.ok(sizeBytes < shellMaxBytes, `${sizeBytes} bytes`);
  await goToPage(page, "Webhooks");
  assert.ok(scripts.length > atFirst.length);
  await context.close();
});

test("what Files calls first starts with the page, and each call is made once", async () => {
  const { app } = dashboard;
  const { accountId, projectId, live } = await app.createTenant("pro");
  await uploadFile(app, "x", { key: live, name: "a.txt" });
  const { page, context } = await dashboard.open(accountId);
  const path = `/dashboard/${projectId}/live/files`;
  const requested: string[] = [];
  page.on("request", (request) => requested.push(request.url().slice(app.url.length)));
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const response = await page.goto(app.url + path);
  await page.getByRole("button", { name: "a.txt", exact: true }).waitFor();
  await untilSettled(page);
  const links = [...((await response?.headerValue("link")) ?? "").matchAll(/<([^>]+)>/g)].map(
    ([, url = ""]) => url,
  );
  const calls = links.filter((url) => url.includes("/api/"));
  assert.deepEqual(calls, listFirstCalls(path, ""));
  for (const part of ["/assets/index-", "/assets/files-", "geist-latin-wght"])
    assert.ok(
      links.some((url) => url.includes(part)),
      part,
    );
  const times = links.map((url) => [url, requested.filter((other) => other === url).length]);
  assert.deepEqual(
    times,
    links.map((url) => [url, 1]),
  );
  assert.deepEqual(complaints, []);
  await context.close();
});

test("project and environment stay in the URL through account pages, and no page selects one by itself", async () => {
  const { app } = dashboard;
  const { accountId, projectId } = await app.createTenant("pro");
  const call = await signInAs(app, accountId);
  // The newest: lists show it first.
  const other = (await call("POST", "/projects", { name: "Newest" })).body.project;
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/account`);
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  assert.equal(await page.getByLabel("Project", { exact: true }).inputValue(), "");
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("link", { name: "Test files of tenant" }).click();
  const inTest = `${app.url}/dashboard/${projectId}/test`;
  await page.waitForURL(`${inTest}/files`);
  const email = await page.locator("nav .who").getAttribute("title");
  await page.getByRole("link", { name: email ?? "" }).click();
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  await page.waitForURL(`${inTest}/account`);
  await page.getByRole("link", { name: "View account activity" }).click();
  await page.waitForURL(`${inTest}/activity`);
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.waitForURL(`${inTest}/files`);
  // A URL without a project leads to the one that was open, and says so.
  for (const path of ["/account", ""]) {
    await page.goto(`${app.url}/dashboard${path}`);
    await page.waitForURL(path === "" ? `${inTest}/overview` : `${inTest}${path}`);
  }
  await page.goto(`${app.url}/dashboard/p/${other.id}/test/settings/project?x=1`);
  await page.waitForURL(`${app.url}/dashboard/${other.id}/test/settings/project?x=1`);
  await page.getByText(other.id).waitFor();
  await page.goto(`${app.url}/dashboard/prj_none/live/files`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await context.close();
});

slowTest("names of files are readable at every width", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await uploadFile(app, "x", { key: tenant.live, name: "quarterly-report-2026.txt" });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const name = page.getByRole("button", { name: "quarterly-report-2026.txt" });
  for (const width of [390, 768, 800, 820, 960, 1024, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await name.waitFor();
    const shown = (await name.boundingBox())?.width ?? 0;
    assert.ok(shown > 150, `${shown} pixels at ${width}`);
  }
  await context.close();
});

test("the pages' types hold", () => {
  const root = join(import.meta.dirname, "../../../..");
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, "--singleThreaded", "-p", join(root, "packages/dashboard")],
    {
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stdout);
});
