import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

let dashboard: Dashboard;
let scriptPath: string;
let stylePath: string;
before(async () => {
  dashboard = await startDashboard();
  const { app } = dashboard;
  const upload = (name: string, type: string, text: string) =>
    uploadFile(app, text, { key: app.owner.live, name, type });
  const script = await upload("evil.js", "text/javascript", "window.wasRun = true;");
  const style = await upload("evil.css", "text/css", "html { --was-styled: yes; }");
  scriptPath = new URL(script.url).pathname;
  stylePath = new URL(style.url).pathname;
});
after(() => dashboard.close());

/** As if somebody had found a way to put markup into the page. Tells what took effect. */
const injection = `async ([src, href]) => {
  const add = (name, attributes) =>
    new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), attributes);
      element.addEventListener("load", () => resolve("loaded"));
      element.addEventListener("error", () => resolve("blocked"));
      document.head.append(element);
    });
  return {
    script: await add("script", { src }),
    module: await add("script", { src, type: "module" }),
    style: await add("link", { rel: "stylesheet", href }),
    wasRun: "wasRun" in window,
    wasStyled: getComputedStyle(document.documentElement).getPropertyValue("--was-styled") !== "",
  };
}`;
const inject = (page: Page, src: string, href: string) =>
  page.evaluate(`(${injection})(${JSON.stringify([src, href])})`);

const nothing = { script: "blocked", module: "blocked", style: "blocked", wasRun: false, wasStyled: false };

test("an uploaded script or style takes effect on no page of the service, and the pages' own do", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  const messages: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") messages.push(message.text());
  });
  const headings: Record<string, string> = {
    "/dashboard": "tenant",
    "/dashboard/account": "Account",
    "/": "Uploads for your app, on your own server",
    "/docs": "Documentation",
    "/docs/reference/explorer": "API explorer",
    "/components": "components for React",
  };
  for (const [path, heading] of Object.entries(headings)) {
    await page.goto(app.url + path);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    await untilSettled(page);
    assert.deepEqual(messages, [], `${path} works under its own policy`);
    assert.deepEqual(await inject(page, scriptPath, stylePath), nothing, path);
    messages.length = 0;
  }
  await page.goto(`${app.url}/docs`);
  await page.getByRole("link", { name: "Search docs" }).click();
  const search = page.getByRole("dialog");
  await search.getByLabel("Search the docs").fill("webhook");
  await search.getByRole("link").first().waitFor();
  await context.close();
});

test("the policy names the host that the page was opened at", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  const elsewhere = app.url.replace("127.0.0.1", "localhost");
  await page.goto(`${elsewhere}/dashboard`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(await inject(page, scriptPath, stylePath), nothing);
  assert.deepEqual(
    await inject(page, `${app.url}${scriptPath}`, `${app.url}${stylePath}`),
    nothing,
    "nor from the public host",
  );
  await context.close();
});
