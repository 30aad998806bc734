import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { expectGoodLook, phone } from "../support/good-look.ts";
import { type Dashboard, goToPage, pageNames, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

const shellMaxBytes = 150 * 1024;

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("every page is accessible and fits a phone", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await uploadFile(app, "x", { key: tenant.live, name: `${"very-long-".repeat(15)}.txt` });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard`);
  for (const name of pageNames) {
    await goToPage(page, name);
    await expectGoodLook(page, name);
  }
  await page.getByRole("button", { name: "Create key" }).click();
  await expectGoodLook(page, "the dialog of a new key");
  await page.keyboard.press("Escape");
  await goToPage(page, "Files");
  await page.getByRole("button", { name: "very-long", exact: false }).click();
  await expectGoodLook(page, "the dialog of a file");
  for (const path of ["/account", "/claim"]) {
    await page.goto(`${app.url}/dashboard${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectGoodLook(page, path);
  }
  await context.clearCookies();
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await expectGoodLook(page, "the sign-in page");
  await context.close();
});

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

test("the pages' types hold", () => {
  const root = join(import.meta.dirname, "../../../..");
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", join(root, "packages/dashboard")], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout);
});
