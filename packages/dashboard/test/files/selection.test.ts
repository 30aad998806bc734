import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import sharp from "sharp";
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

test("a slow thumbnail shows its ThumbHash until it is there, and not behind it", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const picture = sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } });
  const options = { key: tenant.live, name: "a.png", type: "image/png" };
  const { key } = await uploadFile(app, await picture.png().toBuffer(), options);
  await until(async () => {
    const { body } = await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live });
    return body.file.image?.thumbhash != null;
  });
  const { page, context } = await dashboard.open(tenant.accountId);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(/\/[pt]\/[^/]+\/.*a\.png/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const behind = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('img.thumb')).backgroundImage");
  await page.locator("img.thumb").waitFor();
  await until(async () => (await behind()).startsWith('url("data:image/'));
  release();
  await until(async () => (await behind()) === "none");
  await context.close();
});
