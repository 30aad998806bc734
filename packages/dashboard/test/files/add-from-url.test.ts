import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { browserMissing } from "../../../server/test/support/browser.ts";
import { type Source, startSource } from "../../../server/test/support/imports/source.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

const half = Buffer.alloc(500_000, "h");

let source: Source;
let dashboard: Dashboard;
before(async () => {
  source = await startSource();
  dashboard = await startDashboard({ UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" });
});
after(async () => {
  await dashboard.close();
  await source.close();
});

it("a file added from a URL shows how far it is, and that it has arrived or why not", {
  skip: browserMissing,
}, async () => {
  const rest = Promise.withResolvers<void>();
  source.paths.set("/photo.bin", async (_request, response) => {
    response.writeHead(200, { "content-length": 2 * half.length }).write(half);
    await rest.promise;
    response.end(half);
  });
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  const add = async (path: string) => {
    await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/files`);
    await page.getByRole("button", { name: "More ways to upload" }).click();
    await page.getByRole("menuitem", { name: "Add from URL…" }).click();
    await page.getByRole("dialog").getByRole("textbox").first().fill(`${source.url}${path}`);
    await page.keyboard.press("Enter");
  };
  const panel = (name: string) => page.getByRole("dialog", { name });
  await add("/photo.bin");
  await panel("photo.bin")
    .getByText(/^Fetched /)
    .waitFor();
  await panel("photo.bin").getByText("Uploading", { exact: true }).waitFor();
  rest.resolve();
  await panel("photo.bin").getByText("Uploaded", { exact: true }).waitFor();
  await panel("photo.bin").getByText("upload.completed").waitFor();
  assert.equal(
    await panel("photo.bin")
      .getByText(/^Fetched /)
      .count(),
    0,
  );

  await add("/missing.bin");
  await panel("missing.bin").getByText("Failed", { exact: true }).waitFor();
  await panel("missing.bin").getByText("upload.failed").waitFor();
  await context.close();
});
