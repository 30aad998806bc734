import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { slowTest } from "../../../../test/support/quick-run.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

async function openFiles(tenant: Tenant) {
  const opened = await dashboard.open(tenant.accountId);
  await opened.page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/files`);
  return opened;
}
const byName = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("files are uploaded by the button and by letting them fall, and no key is in the browser", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await openFiles(tenant);
  await page.getByText("No files yet").waitFor();
  const authorized: string[] = [];
  page.on("request", (request) => {
    if (request.headers()["authorization"] !== undefined) authorized.push(request.url());
  });
  await page
    .getByLabel("Files to upload")
    .setInputFiles({ name: "one.txt", mimeType: "text/plain", buffer: Buffer.from("one") });
  await byName(page, "one.txt").waitFor();
  await page.evaluate(`{
    const data = new DataTransfer();
    data.items.add(new File(["two"], "two.txt", { type: "text/plain" }));
    dispatchEvent(new DragEvent("dragover", { dataTransfer: data, cancelable: true }));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
  }`);
  await byName(page, "two.txt").waitFor();
  await page.getByText("2 of 2 uploaded").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("2 of 2 uploaded").waitFor({ state: "detached" });
  assert.deepEqual(authorized, []);
  const { files } = (await dashboard.app.call("GET", "files", { key: tenant.live })).body;
  assert.deepEqual(
    files.map((file: { name: string; status: string }) => [file.name, file.status]),
    [
      ["two.txt", "UPLOADED"],
      ["one.txt", "UPLOADED"],
    ],
  );
  await context.close();
});

test("an upload that was cut off goes on after a reload, and what is refused says why", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await openFiles(tenant);
  // On disk, so that it is the same file after the reload, down to when it was changed.
  const path = join(dashboard.app.dataDir, "large.thing");
  await writeFile(path, randomBytes(11 * 1024 * 1024));
  await page.getByText("No files yet").waitFor();
  // All but the first part are held up for ever, until the page is left.
  let puts = 0;
  await page.route(
    (url) => !url.pathname.startsWith("/dashboard"),
    (route) => (route.request().method() === "PUT" && ++puts > 1 ? undefined : route.continue()),
  );
  const stored = page.waitForResponse((response) => response.request().method() === "PUT" && response.ok());
  await page.getByLabel("Files to upload").setInputFiles(path);
  await stored;
  await page.getByRole("button", { name: "Pause large.thing" }).click();
  await page.unrouteAll();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.reload();
  await page.getByText("Unfinished: large.thing").waitFor();
  await page.getByLabel("Files to upload").setInputFiles(path);
  await page.getByText("Done · resumed").waitFor();
  const { files } = (await dashboard.app.call("GET", "files", { key: tenant.live })).body;
  assert.deepEqual([files.length, files[0].status, files[0].size], [1, "UPLOADED", 11 * 1024 * 1024]);

  await dashboard.app.call("POST", `projects/${tenant.projectId}/routers`, {
    key: tenant.live,
    body: { slug: "pictures", allowedTypes: ["image/*"] },
  });
  await page.reload();
  await page.getByLabel("Upload to route").selectOption("Route: pictures");
  await page.getByLabel("Files to upload").setInputFiles(path);
  await page.getByText("does not accept application/octet-stream").waitFor();
  await context.close();
});

slowTest("where nothing can be uploaded the page says why", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  const url = `${dashboard.app.url}/dashboard/${tenant.projectId}/live`;
  await page.route("**/routers", (route) => route.abort());
  await page.goto(`${url}/files`);
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/routers");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("button", { name: "Upload", exact: true }).waitFor();
  await page.goto(`${url}/routes`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete route" }).click();
  await page.getByText("No file routes").waitFor();
  await page.goto(`${url}/files`);
  await page.getByRole("link", { name: "Create a file route to upload here" }).click();
  await page.getByRole("button", { name: "Create route" }).waitFor();
  await context.close();
});

test("a folder is uploaded with everything in it, dropped or chosen, and each file keeps its path", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const root = join(dashboard.app.dataDir, "album");
  await mkdir(join(root, "summer", "empty"), { recursive: true });
  for (const path of ["a.txt", "summer/b.txt", "summer/.DS_Store"]) await writeFile(join(root, path), path);
  const { page, context } = await openFiles(tenant);
  await page.getByText("No files yet").waitFor();
  const paths = async () => {
    const { files } = (await dashboard.app.call("GET", "files", { key: tenant.live })).body;
    const each = files.map(async ({ key }: { key: string }) => {
      const path = `files/${encodeURIComponent(key)}`;
      const { file } = (await dashboard.app.call("GET", path, { key: tenant.live })).body;
      return [file.name, file.status, file.metadata.path];
    });
    return (await Promise.all(each)).toSorted();
  };
  const dropped = [
    ["a.txt", "UPLOADED", "album/a.txt"],
    ["b.txt", "UPLOADED", "album/summer/b.txt"],
  ];
  // A page cannot make up a drag of a folder; the browser's own interface can.
  const cdp = await context.newCDPSession(page);
  const data = { items: [], files: [root], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await cdp.send("Input.dispatchDragEvent", { type, x: 600, y: 400, data });
  await page.getByText("2 of 2 uploaded").waitFor();
  assert.deepEqual(await paths(), dropped);

  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("2 of 2 uploaded").waitFor({ state: "detached" });
  await page.getByLabel("Folder to upload").setInputFiles(root);
  await page.getByText("2 of 2 uploaded").waitFor();
  assert.deepEqual(await paths(), [...dropped, ...dropped].toSorted());
  await context.close();
});
