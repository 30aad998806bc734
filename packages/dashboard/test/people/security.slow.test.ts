import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { statement } from "../../../server/src/db/statement.ts";
import { createSessionToken } from "../../../server/test/support/console-client.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, goToPage, pageNames, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

const evil = '"><img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>';
const insertAnswer = statement((q, p: { messageId: string; answer: string }) =>
  q.insertInto("webhook_attempt").values({
    message_id: p.messageId,
    number: 50,
    started_at: 0,
    duration_ms: 1,
    status_code: 500,
    error: "server_error",
    response: p.answer,
  }),
);

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

/** Another origin of the same site: cookies are sent there, so only our own checks stand in the way. */
async function servePage(html: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("file names, types, metadata and slugs stay text", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  await uploadFile(app, "x", {
    key: tenant.live,
    name: `${evil}.txt`,
    metadata: { [evil]: `${evil}\u202e` },
  });
  await uploadFile(app, "x", { key: tenant.live, name: "invoice\u202efdp.exe" });
  await app.call("PATCH", `projects/${tenant.projectId}`, { key: tenant.live, body: { name: evil } });
  const { page, context } = await dashboard.open(tenant.accountId);
  const violations: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") violations.push(message.text());
  });
  await page.goto(`${app.url}/dashboard`);
  for (const name of pageNames) {
    await goToPage(page, name);
    await untilSettled(page);
    assert.equal(await page.locator("main img, main script").count(), 0, name);
  }
  await goToPage(page, "Files");
  await page.getByText("invoice‹U+202E›fdp.exe").waitFor();
  await page.getByRole("button", { name: "onerror" }).last().click();
  const metadata = page.getByLabel("Metadata (JSON)");
  await until(async () => (await metadata.inputValue()).includes("onerror"));
  const shown = await metadata.inputValue();
  assert.ok(shown.includes("\\u202e") && !shown.includes("\u202e"));
  assert.equal(await page.evaluate("window.wasRun"), undefined);
  assert.deepEqual(violations, []);
  await context.close();
});

test("what webhooks answer and what browsers call themselves stay text", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { db } = app.app.deps;
  const body = { slug: "hooked", webhookUrl: "https://hooks.example.com/upstow" };
  await app.call("POST", `projects/${tenant.projectId}/routers`, { key: tenant.live, body });
  await uploadFile(app, "x", { key: tenant.live, routeSlug: "hooked" });
  const { deliveries } = (await app.call("GET", "webhooks/deliveries", { key: tenant.live })).body;
  const answer = `${evil} pay\u202eload\u0007`;
  await db.run(insertAnswer, { messageId: deliveries[0].id, answer });
  await createSessionToken(app, tenant.accountId, answer);
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Webhooks");
  await page.getByRole("list", { name: "Deliveries" }).getByRole("button").click();
  await page.getByText("pay‹U+202E›load‹U+0007›").waitFor();
  assert.equal(await page.locator("dialog img, dialog script").count(), 0);
  await page.goto(`${app.url}/dashboard/account`);
  await page.getByText("pay‹U+202E›load‹U+0007›").waitFor();
  assert.equal(await page.locator("main img, main script").count(), 0);
  assert.equal(await page.evaluate("window.wasRun"), undefined);
  await context.close();
});

test("a session that was planted in a browser is not the one that its owner gets", async () => {
  const { app } = dashboard;
  const planted = { name: "upstow_session", value: "a".repeat(43), url: app.url };
  const { page, context } = await dashboard.open(null);
  await context.addCookies([planted]);
  await page.goto(`${app.url}/dashboard/claim#${app.app.firstStart?.loginToken}`);
  await page.getByLabel("Email address").fill("me@example.com");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Open the dashboard" }).click();
  await page.getByLabel("Project", { exact: true }).waitFor();
  const cookies = await context.cookies();
  assert.deepEqual(cookies.map(({ name }) => name).toSorted(), ["upstow_device", "upstow_session"]);
  for (const { httpOnly, sameSite } of cookies) assert.deepEqual([httpOnly, sameSite], [true, "Strict"]);
  const cookie = cookies.find(({ name }) => name === "upstow_session");
  assert.notEqual(cookie?.value, planted.value);
  const seen = (await page.content()) + app.logLines.join("") + (await page.evaluate("document.cookie"));
  const secrets = [cookie?.value ?? "-", "correct horse battery", app.app.firstStart?.loginToken ?? "-"];
  for (const secret of secrets) assert.ok(!seen.includes(secret));
  await context.close();
});

test("other origins can neither frame the dashboard nor act in it", async () => {
  const { app } = dashboard;
  const { accountId } = await app.createTenant("pro");
  const { page, context } = await dashboard.open(accountId);
  const attacker = await servePage(`<!doctype html><iframe src="${app.url}/dashboard"></iframe>`);
  try {
    await page.goto(attacker.url);
    await until(async () => page.frames().some((frame) => frame.url().startsWith("chrome-error:")));
    assert.ok(!page.frames().some((frame) => frame.url().includes("/dashboard")));
    const reached = page.waitForResponse(`${app.url}/dashboard/api/sign-out`);
    const options = { method: "POST", mode: "no-cors", credentials: "include" };
    await page.evaluate(
      `fetch("${app.url}/dashboard/api/sign-out", ${JSON.stringify(options)}).catch(() => {})`,
    );
    assert.equal((await reached).status(), 403);
    await page.goto(`${app.url}/dashboard`);
    await page.getByRole("heading", { name: "tenant" }).waitFor();
  } finally {
    attacker.close();
    await context.close();
  }
});

test("pages forbid foreign scripts and frames; assets are kept, the page is asked for again", async () => {
  const { app } = dashboard;
  const index = await app.call("GET", "/dashboard");
  const { host } = new URL(app.url);
  const assets = `${host}/dashboard/assets/`;
  const rules = [
    "default-src 'none'",
    `script-src ${assets}`,
    `style-src ${assets}`,
    "frame-ancestors 'none'",
  ];
  for (const path of ["/dashboard", "/dashboard/anything", "/dashboard/claim", "/dashboard/join"]) {
    const { headers } = await app.call("GET", path);
    const policy = (headers.get("content-security-policy") ?? "").split("; ");
    for (const rule of rules) assert.ok(policy.includes(rule), `${path}: ${rule}`);
    const targets =
      policy
        .find((rule) => rule.startsWith("connect-src"))
        ?.split(" ")
        .slice(1) ?? [];
    const expected = [
      `${host}/dashboard/api/`,
      `${host}/docs/search.json`,
      `${host}/robots.txt`,
      ...["u", "f", "s"].map((name) => `${app.url}/${name}/`),
    ];
    assert.deepEqual(targets, expected, "data goes nowhere else");
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("cache-control"), "no-cache");
  }
  const script = /src="([^"]+\.js)"/.exec(index.body)?.[1] ?? "";
  const asset = await app.call("GET", script);
  assert.equal(asset.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(asset.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal((await app.call("GET", "/dashboard/assets/..%2findex.html")).status, 404);
  assert.equal((await app.call("GET", "/dashboard/api/nothing")).status, 404);
});

test("a session that was ended elsewhere leads to the sign-in page", async () => {
  const { app } = dashboard;
  const { accountId } = await app.createTenant("pro");
  const { page, context } = await dashboard.open(accountId);
  await page.goto(`${app.url}/dashboard`);
  await goToPage(page, "Overview");
  await context.clearCookies();
  await page.getByRole("navigation").getByRole("link", { name: "Logs" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await context.close();
});
