import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { createUploadClient } from "../../../server/test/support/upload-client.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { phone } from "../support/good-look.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { untilSettled } from "../support/settled.ts";

let dashboard: Dashboard;
before(async () => {
  // Nothing answers there, so scans stay open.
  dashboard = await startDashboard({ UPSTOW_CLAMD: "tcp://127.0.0.1:1" });
});
after(() => dashboard.close());

/** What a finger has to meet: of a checkbox its label, and of a file's name the row. */
const smallTargets = `[...document.querySelectorAll("#content :is(button, .button, select, input, summary), header :is(button, select)")]
  .filter((control) => control.type !== "file" && control.checkVisibility())
  .map((control) => [control, control.closest(control.matches(".files .link") ? "tr" : "label.tick-area") ?? control])
  .map(([control, target]) => [control.ariaLabel ?? control.textContent, target.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 40 || height < 40)
  .map(([name, { width, height }]) => name + ": " + width + " × " + height)`;

test("on a phone the marks of files are seen, nothing is too wide, and controls are large enough", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { projectId, test: key } = tenant;
  const route = { slug: "scanned", scan: true };
  await app.call("POST", `projects/${projectId}/routers`, { key: tenant.live, body: route });
  const name = `contract-${"and-appendices-".repeat(5)}.txt`;
  const file = await uploadFile(app, "hello", { key, name, routeSlug: "scanned" });
  const change = { access: "private", expiresIn: 30 * 86_400 };
  await app.call("PATCH", `files/${file.key}`, { key, body: change });
  await createUploadClient(app, key).request({ fileName: "open.txt" });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  await page.goto(`${app.url}/dashboard/${projectId}/test/files`);
  const row = page.getByRole("row").filter({ hasText: "contract-" });
  for (const mark of [
    row.getByRole("img", { name: "Private" }),
    row.locator(".marks").getByText("Scanning"),
    row.locator(".marks").getByText("in 30 days"),
    page.getByRole("row").filter({ hasText: "open.txt" }).locator(".marks").getByText("Uploading"),
    page.getByRole("main").locator(".tag.test"),
  ]) {
    await mark.waitFor();
    const box = await mark.boundingBox();
    assert.ok(box !== null && box.width > 10 && box.x + box.width <= phone.width, JSON.stringify(box));
  }
  for (const view of ["List", "Grid"]) {
    await page.getByRole("button", { name: view }).click();
    await untilSettled(page);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), phone.width);
    assert.deepEqual(await page.evaluate(smallTargets), [], view);
  }
  await context.close();
});

test("files are sorted on a phone and in the grid, numbers in names as people count, and back to the newest", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const names = ["page 10.txt", "Page 2.txt", "cover.txt"];
  for (const name of names) await uploadFile(app, "x".repeat(name.length), { key: tenant.live, name });
  const { page, context } = await dashboard.open(tenant.accountId, { viewport: phone });
  const shows = (...expected: string[]) =>
    until(async () => {
      const shown = await page.locator("#content button.link").allTextContents();
      return shown.join() === expected.join();
    });
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/files`);
  const order = page.getByRole("combobox", { name: "Order" });
  for (const view of ["List", "Grid"]) {
    await page.getByRole("button", { name: view }).click();
    await order.selectOption("Name A to Z");
    await shows("cover.txt", "Page 2.txt", "page 10.txt");
    await order.selectOption("Smallest first");
    await shows("cover.txt", "Page 2.txt", "page 10.txt");
    await order.selectOption("Oldest first");
    await shows("page 10.txt", "Page 2.txt", "cover.txt");
    await page.reload();
    await shows("page 10.txt", "Page 2.txt", "cover.txt");
    await order.selectOption("Newest first");
    await shows("cover.txt", "Page 2.txt", "page 10.txt");
  }
  await context.close();
});
