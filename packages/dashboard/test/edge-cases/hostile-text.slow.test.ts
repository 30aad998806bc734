import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { statement } from "../../../server/src/db/statement.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { addDelivery } from "../support/add-delivery.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

const evil = `"><img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>{{7*7}}\${7*7}`;
const deceptive = "invoice\u202efdp\u0007.exe";
const shown = "invoice‹U+202E›fdp‹U+0007›.exe";

/** The API takes no such slugs; a database that was written to by other means may hold one all the same. */
const setSlugs = statement((q, p: { slug: string; projectId: string }) =>
  q.updateTable("file_route").set({ slug: p.slug }).where("project_id", "=", p.projectId),
);

let dashboard: Dashboard;
let tenant: Tenant;
before(async () => {
  dashboard = await startDashboard();
  const { app } = dashboard;
  tenant = await app.createTenant("pro");
  const photo = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const upload = (name: string, metadata = {}) =>
    uploadFile(app, photo, { key: tenant.live, name, type: "image/png", metadata });
  await upload(`${evil}.png`, { [evil]: [evil, deceptive] });
  await upload(deceptive, { note: deceptive });
  await app.call("PATCH", `projects/${tenant.projectId}`, {
    key: tenant.live,
    body: { name: `${evil}\u202e` },
  });
  await app.call("POST", `projects/${tenant.projectId}/keys`, {
    key: tenant.live,
    body: { name: evil + deceptive },
  });
  const attempts = [{ status_code: 500, error: "server_error" as const, response: `${evil}\n${deceptive}` }];
  const url = `https://example.com/${evil}${deceptive}`;
  await addDelivery(app, tenant, { routeSlug: evil + deceptive, fileName: evil + deceptive, url, attempts });
  await app.app.deps.db.run(setSlugs, { slug: evil + deceptive, projectId: tenant.projectId });
});
after(() => dashboard.close());

const seen = (page: Page) => page.getByText(shown).filter({ visible: true }).first();

const readAll = `[
  document.body.innerText,
  ...[...document.querySelectorAll("input, textarea")].map((field) => field.value),
  ...[...document.querySelectorAll("option")].map((option) => option.textContent),
  ...[...document.querySelectorAll("[aria-label], [title]")].flatMap((one) => [one.ariaLabel, one.title]),
].join()`;

/** No element was made of the text, nothing ran, and no character turns others round or hides. */
async function expectTextOnly(page: Page, where: string): Promise<void> {
  assert.equal(await page.locator('img[src="x"], main script, dialog script').count(), 0, where);
  assert.equal(await page.evaluate("window.wasRun"), undefined, where);
  const text = String(await page.evaluate(readAll));
  for (const char of ["\u0007", "\u202e"]) assert.ok(!text.includes(char), where);
}

test("names, metadata, slugs, addresses and answers of strangers stay text on every page", async () => {
  const { page, context } = await dashboard.open(tenant.accountId);
  const violations: string[] = [];
  page.on("console", (message) => {
    if (/Content.Security.Policy|Refused to/i.test(message.text())) violations.push(message.text());
  });
  const go = async (path: string) => {
    await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await untilSettled(page);
  };
  await go("files");
  await seen(page).waitFor();
  await expectTextOnly(page, "the list of files");
  await page.getByRole("button", { name: "Grid" }).click();
  await seen(page).waitFor();
  await expectTextOnly(page, "the grid of files");
  await page.getByRole("button", { name: "onerror" }).last().click();
  await page.getByText("Open in the image studio").waitFor();
  const metadata = await until(() =>
    page
      .getByLabel("Metadata (JSON)")
      .inputValue()
      .then((text) => text || null),
  );
  assert.ok(metadata.includes("\\u202e") && !metadata.includes("\u202e"));
  await expectTextOnly(page, "the dialog of a file");
  await page.keyboard.press("Escape");
  await page.getByLabel("Select invoice").check();
  await expectTextOnly(page, "a choice of files");

  await go("studio");
  await seen(page).waitFor();
  await expectTextOnly(page, "the picker of the studio");
  await page.getByRole("button", { name: "onerror" }).click();
  await page.getByRole("img", { name: "Result" }).waitFor();
  await expectTextOnly(page, "the studio");

  await go("routes");
  await seen(page).waitFor();
  await expectTextOnly(page, "the routes");
  await go("webhooks");
  await seen(page).waitFor();
  await expectTextOnly(page, "the deliveries");
  await page.getByRole("list", { name: "Deliveries" }).getByRole("button").first().click();
  await page.getByRole("dialog").getByText(shown).first().waitFor();
  await page.getByRole("button", { name: "Show as curl" }).click();
  await page.getByRole("button", { name: "Copy curl" }).waitFor();
  await expectTextOnly(page, "a delivery");

  await go("settings/keys");
  await seen(page).waitFor();
  await expectTextOnly(page, "the keys");
  await page.getByRole("button", { name: "Revoke" }).first().click();
  await expectTextOnly(page, "the dialog that revokes a key");
  await go("settings/project");
  // What is edited has to be the name itself; beside it stands what cannot be seen in it.
  await page.getByText("‹U+202E›").filter({ visible: true }).last().waitFor();
  await page.getByLabel("Project name").fill("plain");
  await page.getByRole("button", { name: "Delete project" }).click();
  await expectTextOnly(page, "the dialog that deletes a project");
  assert.deepEqual(violations, []);
  await context.close();
});

test("joiners that belong to what is written are left in it, and shown anywhere else", async () => {
  const { app } = dashboard;
  const { live, accountId, projectId } = await app.createTenant("pro");
  const written = ["👩🏽\u200d💻 \u2764\ufe0f\u200d🔥.txt", "می\u200cخواهم.txt", "क्\u200dष.txt"];
  for (const name of [...written, "pay\u200dpal\u200c.txt"]) await uploadFile(app, "x", { key: live, name });
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard/${projectId}/live/files`);
  for (const name of [...written, "pay‹U+200D›pal‹U+200C›.txt"])
    await page.getByRole("button", { name, exact: true }).waitFor();
  await context.close();
});
