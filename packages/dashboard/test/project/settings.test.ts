import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { slowTest } from "../../../../test/support/quick-run.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { createCertificate, trustCertificate } from "../../../server/test/support/webhooks/certificate.ts";
import { startReceiver } from "../../../server/test/support/webhooks/receiver.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard({ UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
});
after(() => dashboard.close());

async function openSettings(tenant: Tenant, section: string) {
  const opened = await dashboard.open(tenant.accountId);
  await opened.page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/settings/${section}`);
  return opened;
}

test("a project is renamed, and deleted only when its slug is typed", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await openSettings(tenant, "project");
  await page.getByLabel("Project name").fill("Better name");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Project", { exact: true }).getByText("Better name").waitFor({ state: "attached" });
  const { slug, name } = (await app.call("GET", `projects/${tenant.projectId}`, { key: tenant.live })).body
    .project;
  assert.equal(name, "Better name");
  await page.getByRole("button", { name: "Delete project" }).click();
  const remove = page.getByRole("button", { name: "Delete this project" });
  await page.getByLabel("to confirm").fill("Better name");
  assert.equal(await remove.isDisabled(), true);
  await page.getByLabel("to confirm").fill(slug);
  await remove.click();
  await page.getByText("You have no projects yet").waitFor();
  assert.equal((await app.call("GET", "files", { key: tenant.live })).status, 401);
  await context.close();
});

test("signing keys are shown when asked for and rotated, and a second time only by force", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const keys = async () => (await app.call("GET", "webhooks/signing-keys", { key: tenant.live })).body;
  const before = await keys();
  const { page, context } = await openSettings(tenant, "signing");
  await page.getByRole("button", { name: "Show the next key" }).waitFor();
  assert.ok(!(await page.content()).includes(before.next));
  await page.getByRole("button", { name: "Show the next key" }).click();
  await page.getByText(before.next).waitFor();
  await page.getByRole("button", { name: "Rotate keys" }).click();
  await page.route("**/rotate", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole("button", { name: "Rotate now" }).click();
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  assert.equal((await keys()).current, before.next);
  assert.equal(await page.getByRole("button", { name: "Rotate anyway" }).count(), 0);
  await page.unroute("**/rotate");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Rotate keys" }).click();
  await page.getByRole("button", { name: "Rotate now" }).click();
  await page.getByRole("alert").getByText("within 24 hours").waitFor();
  await page.getByRole("button", { name: "Rotate anyway" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.notEqual((await keys()).current, before.next);
  await context.close();
});

test("a project gets a domain of its own once it leads here, is told what is wrong with it, and gives it back", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { key } = await uploadFile(app, "hello", { key: tenant.live, name: "hello.txt" });
  const urlOf = async () =>
    (await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live })).body.file.url;
  const certificate = await createCertificate(["localhost"]);
  trustCertificate(certificate);
  const cdn = await startReceiver(certificate);
  cdn.answer = (_request, response) => void response.end("somebody else");
  const domain = `https://localhost:${cdn.port}`;
  const { page, context } = await openSettings(tenant, "delivery");
  await page.getByText(`${app.url}/f/…`).waitFor();
  const submit = page.getByRole("button", { name: "Check and save" });
  // Longer than a label of a name may be, so that no server has to be asked.
  await page.getByLabel("Domain").fill(`${"x".repeat(64)}.example`);
  await submit.click();
  await page.getByRole("alert").getByText("is not in DNS").waitFor();
  await page.getByLabel("Domain").fill(`localhost:${cdn.port}`);
  await submit.click();
  await page.getByRole("alert").getByText("but not from this service").waitFor();
  cdn.answer = async ({ path }, response) => void response.end(await (await fetch(app.url + path)).text());
  await submit.click();
  await page.getByText(`${domain}/f/…`).waitFor();
  assert.equal(await urlOf(), `${domain}/f/${key}`);
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("The domain works and points to this service.").waitFor();
  cdn.answer = (_request, response) => void response.end("somebody else");
  await page.getByRole("button", { name: "Check" }).click();
  await page.getByText("but not from this service").waitFor();

  // Pages show files from the installation's address, which their policy names.
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  await page.getByRole("button", { name: "hello.txt", exact: true }).click();
  await page.getByLabel("Preview").getByText("hello").waitFor();
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/settings/delivery`);
  await page.getByRole("button", { name: "Stop using it" }).click();
  await submit.waitFor();
  assert.equal(await urlOf(), `${app.url}/f/${key}`);
  await context.close();
  await cdn.close();
});

slowTest("a button says when the browser does not copy", async () => {
  const { page, context } = await openSettings(await dashboard.app.createTenant("pro"), "project");
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error())");
  await page.getByRole("button", { name: "Copy ID" }).click();
  await page.getByRole("button", { name: "Could not copy" }).waitFor();
  await context.close();
});

slowTest("sections are reached by keyboard, and an error in one can be tried again", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await openSettings(tenant, "keys");
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await page.route("**/signing-keys", (route) => route.abort());
  await page.getByRole("link", { name: "Webhook signing" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/signing-keys");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Rotate keys" }).waitFor();
  await page.route("**/keys", (route) => route.fulfill({ json: { keys: [] } }));
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("No keys yet").waitFor();
  await context.close();
});
