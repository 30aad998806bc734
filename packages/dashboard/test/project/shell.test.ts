import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
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
