import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  // Nothing is scanned: routes only ask whether there is a scanner.
  dashboard = await startDashboard({ UPSTOW_CLAMD: "tcp://127.0.0.1:1" });
});
after(() => dashboard.close());

async function openRoutes(tenant: Tenant) {
  const opened = await dashboard.open(tenant.accountId);
  await opened.page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/routes`);
  return opened;
}

test("a size is shown in the largest unit that shows it exactly", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const sizes = [
    ["a", 5_000_000, "5000000", "bytes"],
    ["b", 1_572_864, "1.5", "MB"],
    ["c", 2_097_152, "2", "MB"],
  ] as const;
  for (const [slug, maxFileSize] of sizes)
    await dashboard.app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.live,
      body: { slug, maxFileSize },
    });
  const { page, context } = await openRoutes(tenant);
  for (const [slug, , text, unit] of sizes) {
    const row = page.getByRole("listitem").filter({ has: page.getByText(slug, { exact: true }) });
    await row.getByRole("button", { name: "Edit" }).click();
    assert.equal(await page.getByLabel("Largest file").inputValue(), text);
    assert.equal(await page.getByRole("combobox", { name: "Unit", exact: true }).inputValue(), unit);
    await page.keyboard.press("Escape");
  }
  await context.close();
});

const listRoutes = async ({ projectId, live: key }: Tenant) =>
  (await dashboard.app.call("GET", `projects/${projectId}/routers`, { key })).body.routers;

test("every setting of a route is set, shown in the list, read back and taken back", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await openRoutes(tenant);
  const dialog = page.getByRole("dialog");
  const summary = (name: string) => dialog.locator("summary", { hasText: name });
  await page.getByRole("button", { name: "Create route" }).click();
  await dialog.getByLabel("Slug").fill("photos");
  await summary("Inspection").click();
  await dialog.getByLabel("Content check").selectOption("On, reject mismatches");
  await dialog.getByLabel("Metadata in pictures").selectOption("Remove where the picture was taken");
  await dialog.getByLabel("where pictures were taken").check();
  await dialog.getByLabel("Virus scan").selectOption("On, allow files too large to scan");
  await summary("Expiry and claims").click();
  await dialog.getByLabel("after days").fill("30");
  await dialog.getByLabel("Claim within").fill("90");
  await dialog.getByLabel("Time unit").selectOption("minutes");
  await summary("HTML forms").click();
  await dialog.getByLabel("Redirect origins").fill("https://www.example.com\nhttps://example.org");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "photos" });
  await row
    .getByText(
      "Mismatched content rejected · Location removed · Scanned for viruses · Expires after 30 days · Claim within 1.5 hours",
    )
    .waitFor();
  const settings = ({ id, projectId, createdAt, updatedAt, ...rest }: Record<string, unknown>) => rest;
  const [created] = await listRoutes(tenant);
  assert.deepEqual(settings(created), {
    slug: "photos",
    allowedTypes: [],
    maxFileSize: null,
    webhookUrl: null,
    environment: "all",
    access: "public",
    expireAfterDays: 30,
    claimWithin: 5_400,
    keepLocation: true,
    checkContent: "enforce",
    stripMetadata: "gps",
    scan: true,
    scanUnknown: "allow",
    formOrigins: ["https://www.example.com", "https://example.org"],
  });

  await row.getByRole("button", { name: "Edit" }).click();
  // What is set is not hidden.
  assert.equal(await dialog.getByLabel("Claim within").inputValue(), "1.5");
  assert.equal(await dialog.getByLabel("Time unit").inputValue(), "hours");
  assert.equal(
    await dialog.getByLabel("Redirect origins").inputValue(),
    "https://www.example.com\nhttps://example.org",
  );
  assert.equal(await dialog.getByLabel("where pictures were taken").isChecked(), true);
  await dialog.getByLabel("Content check").selectOption("On, log mismatches");
  await dialog.getByLabel("Metadata in pictures").selectOption("Remove all");
  await dialog.getByLabel("Virus scan").selectOption("Off");
  await dialog.getByLabel("Claim within").fill("");
  await dialog.getByLabel("after days").fill("");
  await dialog.getByLabel("Redirect origins").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText("Mismatched content logged · Metadata removed", { exact: true }).waitFor();
  const [changed] = await listRoutes(tenant);
  assert.deepEqual(settings(changed), {
    ...settings(created),
    expireAfterDays: null,
    claimWithin: null,
    checkContent: "warn",
    stripMetadata: "all",
    scan: false,
    formOrigins: [],
  });
  await context.close();
});

test("only what was changed is sent, and an invalid field in a closed part is shown", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await openRoutes(tenant);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Edit" }).click();
  const claimWithin = dialog.getByLabel("Claim within");
  const part = dialog.locator("summary", { hasText: "Expiry and claims" });
  await part.click();
  await claimWithin.fill("0");
  await part.click();
  await claimWithin.waitFor({ state: "hidden" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await claimWithin.waitFor();
  await claimWithin.fill("2");
  const sending = page.waitForRequest((request) => request.method() === "PATCH");
  await dialog.getByRole("button", { name: "Save" }).click();
  assert.deepEqual((await sending).postDataJSON(), { claimWithin: 7_200 });
  await dialog.waitFor({ state: "detached" });
  await context.close();
});
