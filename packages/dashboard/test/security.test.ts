import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { uploadFile } from "../../server/test/support/upload.ts";
import { type Dashboard, goToPage, pageNames, startDashboard } from "./support/open-dashboard.ts";

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
  const evil = '"><img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>';
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
    await page.waitForLoadState("networkidle");
    assert.equal(await page.locator("main img, main script").count(), 0, name);
  }
  await goToPage(page, "Files");
  await page.getByText("invoice‹U+202E›fdp.exe").waitFor();
  await page.getByRole("button", { name: "onerror" }).last().click();
  await page.waitForFunction("document.querySelector('textarea')?.value.includes('onerror')");
  const shown = await page.getByLabel("Metadata (JSON)").inputValue();
  assert.ok(shown.includes("\\u202e") && !shown.includes("\u202e"));
  assert.equal(await page.evaluate("window.wasRun"), undefined);
  assert.deepEqual(violations, []);
  await context.close();
});

test("other origins can neither frame the dashboard nor act in it", async () => {
  const { app } = dashboard;
  const { accountId } = await app.createTenant("pro");
  const { page, context } = await dashboard.open(accountId);
  const attacker = await servePage(`<!doctype html><iframe src="${app.url}/dashboard"></iframe>`);
  try {
    await page.goto(attacker.url);
    await page.waitForLoadState("networkidle");
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
  const index = await app.call("GET", "/dashboard/p/anything");
  const policy = index.headers.get("content-security-policy") ?? "";
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
  ]) {
    assert.ok(policy.split("; ").includes(rule), rule);
  }
  assert.equal(index.headers.get("x-frame-options"), "DENY");
  assert.equal(index.headers.get("cache-control"), "no-cache");
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
