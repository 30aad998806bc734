import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { slowTest } from "../../../../test/support/quick-run.ts";
import { statement } from "../../../server/src/db/statement.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, goToPage, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

const markDead = statement((q, p: { projectId: string }) =>
  q
    .updateTable("webhook_message")
    .set({ state: "dead" })
    .where("project_id", "=", p.projectId)
    .where("url", "is not", null),
);

/** Nobody answers at the address; the first attempt must be over, or it would decide what follows. */
async function untilAttempted(key: string): Promise<void> {
  for (;;) {
    const { body } = await dashboard.app.call("GET", "logs?type=webhook.failed", { key });
    if (body.logs.length > 0) return;
    await wait(100);
  }
}

test("the overview shows storage, charts that can be read as numbers, recent files and failing webhooks", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await page.getByRole("heading", { name: "Get started" }).waitFor();
  await page.getByText(`UPSTOW_URL=${app.url}`).first().waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  const env = page.getByRole("region", { name: ".env" });
  await env.getByText(/UPSTOW_API_KEY=svc_live_\w{10}/).waitFor();
  const key = /svc_live_\w+/.exec((await env.textContent()) ?? "")?.[0];
  assert.equal((await app.call("GET", "files", { key: key ?? "" })).status, 200);
  assert.equal(await page.getByRole("heading", { name: "Failed webhooks" }).count(), 0);

  const webhookUrl = "https://hooks.example.com/upstow";
  const routers = `projects/${tenant.projectId}/routers`;
  await app.call("POST", routers, { key: tenant.live, body: { slug: "hooked", webhookUrl } });
  await uploadFile(app, "12345", { key: tenant.live, name: "first.txt", routeSlug: "hooked" });
  await uploadFile(app, "12345", { key: tenant.live, name: "second.txt" });
  await untilAttempted(tenant.live);
  await app.app.deps.db.run(markDead, { projectId: tenant.projectId });
  await page.reload();
  await page.getByRole("link", { name: "second.txt" }).waitFor();
  await page.getByRole("list", { name: "Recent activity" }).getByText("second.txt").first().waitFor();
  await page.getByRole("img", { name: /^Uploads: 2\. Highest 2, / }).waitFor();
  const chart = page.getByRole("figure").filter({ hasText: "Storage" });
  await chart.getByText("Show numbers").click();
  await chart.getByRole("cell", { name: "10 B", exact: true }).waitFor();
  assert.equal(await chart.getByRole("row").count(), 31);
  await page.getByRole("heading", { name: "Failed webhooks" }).waitFor();
  const failing = page.getByRole("region", { name: "Failed webhooks" });
  await failing.getByText(webhookUrl).waitFor();
  await failing.getByRole("link", { name: "first.txt" }).waitFor();
  await page.getByRole("list", { name: "Recent files" }).getByRole("link", { name: "first.txt" }).click();
  await page.getByRole("dialog", { name: "first.txt" }).getByText("Uploaded").waitFor();
  await context.close();
});

test("logs come by themselves, stop when paused, and are filtered by type and time", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const rename = (name: string) =>
    app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { name } });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Logs");
  await page.getByText("Live", { exact: true }).last().waitFor();
  await rename("while live");
  const live = page.getByText('Project was renamed to "while live".');
  await live.waitFor();
  assert.equal(await live.count(), 1);

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await rename("while paused");
  await page.getByLabel("Type").selectOption("key.created");
  await live.waitFor({ state: "detached" });
  await page.getByLabel("Type").selectOption("file.deleted");
  await page.getByText("No matching entries").waitFor();
  await page.getByLabel("Type").selectOption("project.updated");
  await page.getByText('Project was renamed to "while paused".').waitFor();
  await page.getByLabel("Time").selectOption("Last hour");
  await live.waitFor();
  await page.getByRole("button", { name: "Go live" }).click();
  await page.getByText("Live", { exact: true }).last().waitFor();
  await rename("live again");
  await page.getByText('Project was renamed to "live again".').waitFor();

  await page.getByLabel("Search in logs").fill("WHILE paused");
  await live.waitFor({ state: "detached" });
  await page.getByText('Project was renamed to "while paused".').waitFor();
  await page.getByText("Live", { exact: true }).last().waitFor();
  await rename("not looked for");
  await rename("also while paused");
  await page.getByText('Project was renamed to "also while paused".').waitFor();
  assert.equal(await page.getByText("not looked for").count(), 0);
  await page.getByLabel("Search in logs").fill("no such text");
  await page.getByText("No matching entries").waitFor();
  await context.close();
});

slowTest("a session that ends while logs are watched leads to the sign-in page", async () => {
  const { app } = dashboard;
  const { accountId, projectId, live } = await app.createTenant("pro");
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Logs");
  await page.getByText("Live", { exact: true }).last().waitFor();
  const signOut = `fetch("/dashboard/api/sign-out", { method: "POST" }).then((answer) => answer.status)`;
  assert.equal(await page.evaluate(signOut), 200);
  await app.call("PATCH", `projects/${projectId}`, { key: live, body: { name: "unseen" } });
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await context.close();
});

test("usage shows what open uploads reserve, and when a key meets its limit", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("free");
  const upload = { fileName: "a.txt", fileSize: 2048, contentType: "text/plain", routeSlug: "default" };
  await app.call("POST", "upload/request", { key: tenant.live, body: upload });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Usage");
  await page.getByText("+ 1 reserved by open uploads").waitFor();
  await page.getByText("+ 2.0 KB reserved by open uploads").waitFor();
  const note = page.locator("section", { has: page.getByRole("heading", { name: "Rate limits" }) });
  await note.getByText("30 upload, 120 transform and 10 other requests per minute").waitFor();
  await note.getByText("UPSTOW_RATE_LIMITS").waitFor();
  await context.close();
});

slowTest("usage is shown by month and downloaded as a table", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await uploadFile(app, "12345", { key: tenant.live });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Usage");
  await page.getByLabel("Months").selectOption("24 months");
  const months = page.locator('section[aria-label="Usage by month"] tbody tr');
  await until(async () => (await months.count()) === 24);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download CSV" }).click();
  const file = await download;
  assert.match(file.suggestedFilename(), /^usage-tenant-\w+-live\.csv$/);
  const [head, first, ...rest] = (await readFile(await file.path(), "utf8")).trimEnd().split("\r\n");
  assert.equal(head, "month,storage_bytes,uploads,bandwidth_bytes,transform_units");
  assert.equal(first, `${new Date().toISOString().slice(0, 7)},5,1,0,0`);
  assert.equal(rest.length, 23);
  await context.close();
});

slowTest("each part that cannot be loaded says why and can be tried again", async () => {
  const { app } = dashboard;
  const { accountId, live } = await app.createTenant("pro");
  await uploadFile(app, "x", { key: live, name: "a.txt" });
  const { page, context } = await dashboard.open(accountId);
  for (const [name, broken] of [
    ["Overview", "**/usage/days*"],
    ["Usage", "**/usage/history*"],
  ] as const) {
    await page.route(broken, (route) => route.abort());
    await page.goto(`${app.url}/dashboard`);
    await goToPage(page, name);
    await page.getByText("The server cannot be reached.").waitFor();
    await page.unroute(broken);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("figure").filter({ hasText: "Uploads" }).waitFor();
  }
  await context.close();
});
