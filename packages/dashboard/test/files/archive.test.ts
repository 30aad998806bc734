import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { uploadFile } from "../../../server/test/support/upload.ts";
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
