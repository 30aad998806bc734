import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { slowTest } from "../../../../test/support/quick-run.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { copyWith, stopClock } from "../support/settled.ts";

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

async function openFiles(tenant: Tenant, { hasOwnClock = false } = {}) {
  const opened = await dashboard.open(tenant.accountId);
  if (hasOwnClock) await opened.page.clock.install();
  await opened.page.goto(filesUrl(tenant));
  return opened;
}
const filesUrl = ({ projectId }: Tenant) => `${dashboard.app.url}/dashboard/${projectId}/live/files`;
const byName = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function statusOf(tenant: Tenant, key: string): Promise<number> {
  return (await dashboard.app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live })).status;
}

test("files are searched by name, type, status, route, date and metadata, and the address keeps the search", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const upload = (name: string, type: string, metadata: Record<string, unknown>) =>
    uploadFile(dashboard.app, "hello", { key: tenant.live, name, type, metadata });
  await upload("harbour.txt", "text/plain", { album: "summer" });
  await upload("mountain.bin", "application/x-thing", { album: "winter" });
  const { page, context } = await openFiles(tenant);
  const shows = async (...names: string[]) => {
    for (const name of ["harbour.txt", "mountain.bin"])
      await byName(page, name).waitFor({ state: names.includes(name) ? "visible" : "detached" });
  };
  await shows("harbour.txt", "mountain.bin");
  await page.getByLabel("Search by name").fill("HARB");
  await shows("harbour.txt");
  await page.reload();
  assert.equal(await page.getByLabel("Search by name").inputValue(), "HARB");
  await shows("harbour.txt");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("Type", { exact: true }).selectOption("Other applications");
  await shows("mountain.bin");
  await page.getByLabel("Type", { exact: true }).selectOption("All types");
  await page.getByText("Route, access, date, metadata").click();
  await page.getByLabel("Metadata").fill("album=summer");
  await shows("harbour.txt");
  await page.getByLabel("From").fill("2200-01-01");
  await page.getByText("No matching files").waitFor();
  await page.getByLabel("From").fill("2020-01-01");
  await page.getByLabel("To", { exact: true }).fill("2199-01-01");
  await shows("harbour.txt");
  await page.getByRole("combobox", { name: "Route", exact: true }).selectOption("default");
  await shows("harbour.txt");
  await page.getByRole("combobox", { name: "Access", exact: true }).selectOption("Private");
  await page.getByText("No matching files").waitFor();
  await page.getByRole("combobox", { name: "Access", exact: true }).selectOption("Public");
  await shows("harbour.txt");
  await page.getByLabel("Status").selectOption("Failed");
  await page.getByText("No matching files").waitFor();
  await context.close();
});

slowTest("the search follows the address, back and forth, and takes no choice along", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  for (const name of ["a.txt", "b.txt"]) await uploadFile(dashboard.app, "x", { key: tenant.live, name });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${filesUrl(tenant)}?name=a.txt`);
  const box = page.getByLabel("Search by name");
  await page.getByLabel("Select a.txt").check();
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await byName(page, "b.txt").waitFor();
  assert.equal(await box.inputValue(), "");
  assert.equal(await page.getByRole("button", { name: "Delete 1" }).count(), 0);
  await page.goBack();
  await byName(page, "b.txt").waitFor({ state: "detached" });
  assert.equal(await box.inputValue(), "a.txt");
  await page.goForward();
  await byName(page, "b.txt").waitFor();
  await box.pressSequentially("b.t");
  await byName(page, "a.txt").waitFor({ state: "detached" });
  assert.ok(page.url().endsWith("?name=b.t"));
  await context.close();
});

test("routes are folders with counts and sizes, and the address keeps folder and order", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const body = { slug: "avatars" };
  await app.call("POST", `projects/${tenant.projectId}/routers`, { key: tenant.live, body });
  for (const [name, text, routeSlug] of [
    ["mina.txt", "long enough", "avatars"],
    ["omar.txt", "short", "avatars"],
    ["report.txt", "x", "default"],
  ] as const)
    await uploadFile(app, text, { key: tenant.live, name, routeSlug });
  const { page, context } = await openFiles(tenant);
  const names = () =>
    page.getByRole("table", { name: "Files" }).locator("tbody button.link").allTextContents();
  const showsInOrder = (...wanted: string[]) => until(async () => `${await names()}` === `${wanted}`);
  await showsInOrder("report.txt", "omar.txt", "mina.txt");
  const folders = page.getByRole("navigation", { name: "Folders" });
  await folders.getByRole("link", { name: "default 1 file · 1 B" }).waitFor();
  await folders.getByRole("link", { name: "avatars 2 files · 16 B" }).click();
  await page.getByRole("heading", { level: 1, name: "avatars" }).waitFor();
  await showsInOrder("omar.txt", "mina.txt");
  assert.equal(await page.getByLabel("Upload to route").inputValue(), "avatars");
  await page.getByRole("button", { name: "Size" }).click();
  await showsInOrder("mina.txt", "omar.txt");
  await byName(page, "omar.txt").click();
  await page.getByRole("dialog").getByRole("heading", { name: "omar.txt" }).waitFor();
  await page.reload();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await showsInOrder("mina.txt", "omar.txt");
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Files" }).click();
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await showsInOrder("mina.txt", "omar.txt", "report.txt");
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "avatars" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Files" }).waitFor();
  await page.goForward();
  await page.goForward();
  await showsInOrder("mina.txt", "omar.txt", "report.txt");
  await context.close();
});

test("live and test files are shown apart, and the switch between them stays on the page", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  await uploadFile(dashboard.app, "x", { key: tenant.live, name: "real.txt" });
  await uploadFile(dashboard.app, "x", { key: tenant.test, name: "trial.txt" });
  const { page, context } = await openFiles(tenant);
  await byName(page, "real.txt").waitFor();
  assert.equal(await byName(page, "trial.txt").count(), 0);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await byName(page, "trial.txt").waitFor();
  assert.equal(await byName(page, "real.txt").count(), 0);
  assert.ok(page.url().endsWith(`/${tenant.projectId}/test/files`));
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await byName(page, "real.txt").waitFor();
  await context.close();
});

test("a deletion waits until it can no longer be undone, and is sent when the page is left", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const keys: string[] = [];
  for (const name of ["a.txt", "b.txt", "c.txt"])
    keys.push((await uploadFile(dashboard.app, "hello", { key: tenant.live, name })).key);
  const statuses = () => Promise.all(keys.map((key) => statusOf(tenant, key)));
  const { page, context } = await openFiles(tenant, { hasOwnClock: true });
  const chooseAndDelete = async (...names: string[]) => {
    for (const name of names) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("button", { name: `Delete ${names.length}` }).click();
    await page.getByText("will be deleted permanently.").waitFor();
    for (const name of names) await byName(page, name).waitFor({ state: "detached" });
  };
  await byName(page, "a.txt").waitFor();
  await stopClock(page);
  await chooseAndDelete("a.txt", "b.txt");
  await page.getByRole("button", { name: "Undo" }).click();
  await byName(page, "a.txt").waitFor();
  await chooseAndDelete("a.txt");
  assert.deepEqual(await statuses(), [200, 200, 200]);
  const sent = page.waitForResponse((response) => response.url().endsWith("/files/delete"));
  await page.clock.resume();
  await page.getByRole("link", { name: "Logs", exact: true }).click();
  assert.equal((await sent).status(), 200);
  assert.deepEqual(await statuses(), [404, 200, 200]);

  await page.goto(filesUrl(tenant));
  await byName(page, "b.txt").waitFor();
  await stopClock(page);
  await chooseAndDelete("b.txt");
  await page.goto("about:blank");
  await until(async () => (await statuses())[1] === 404);
  assert.deepEqual(await statuses(), [404, 404, 200]);
  await context.close();
});

slowTest("the window of a deletion closes by itself", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { key } = await uploadFile(dashboard.app, "hello", { key: tenant.live, name: "a.txt" });
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.clock.install();
  await page.goto(filesUrl(tenant));
  await page.clock.runFor(1000);
  await byName(page, "a.txt").click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("One file will be deleted permanently.").waitFor();
  const sent = page.waitForResponse((response) => response.url().endsWith("/files/delete"));
  await page.clock.runFor(11_000);
  assert.equal((await sent).status(), 200);
  assert.equal(await statusOf(tenant, key), 404);
  await page.getByText("will be deleted permanently.").waitFor({ state: "detached" });
  await context.close();
});

test("images, video, audio, PDF and text are previewed, images also in a grid", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const image = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const pdf =
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>";
  const upload = (name: string, type: string, bytes: Uint8Array | string) =>
    uploadFile(app, bytes, { key: tenant.live, name, type });
  await upload("a.png", "image/png", image);
  await upload("a.mp4", "video/mp4", "not really");
  await upload("a.wav", "audio/wav", silence());
  await upload("a.pdf", "application/pdf", pdf);
  await upload("a.html", "text/html", "<h1>first</h1>\n\tsecond \u202e<script>window.wasRun = 1</script>");
  const { page, context } = await openFiles(tenant);
  const violations: string[] = [];
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) violations.push(message.text());
  });
  const look = async (name: string, selector: string) => {
    await byName(page, name).click();
    const shown = page.getByRole("dialog").locator(selector);
    await shown.waitFor();
    return shown;
  };
  // By its button: the keys may belong to what is shown, such as the browser's own viewer of PDF.
  const close = async () => {
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await look("a.png", "img");
  await until(() => page.evaluate("document.querySelector('dialog img')?.naturalWidth === 40"));
  await close();
  await look("a.mp4", "text=This file can't be previewed in the browser.");
  await close();
  await look("a.wav", "audio");
  await until(() => page.evaluate("document.querySelector('dialog audio')?.duration > 0"));
  await close();
  const answered = page.waitForResponse((response) => response.url().endsWith("/a.pdf"));
  await look("a.pdf", "iframe");
  assert.equal((await answered).headers()["content-type"], "application/pdf");
  await close();
  const text = await look("a.html", "section.preview");
  assert.equal(
    await text.textContent(),
    "<h1>first</h1>\n\tsecond ‹U+202E›<script>window.wasRun = 1</script>",
  );
  await close();
  await page.getByRole("button", { name: "Grid" }).click();
  await until(() => page.evaluate("document.querySelector('.tile img')?.naturalWidth === 320"));
  assert.equal(await page.locator(".tile img").count(), 1);
  assert.equal(await page.evaluate("window.wasRun"), undefined);
  assert.deepEqual(violations, []);
  await context.close();
});

test("metadata is edited, the URL copied, and variants lead to the studio", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const image = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
  const options = { key: tenant.live, name: "a.png", type: "image/png", metadata: { a: 1 } };
  const { key, url } = await uploadFile(app, image, options);
  const { page, context } = await openFiles(tenant);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await byName(page, "a.png").click();
  const editor = page.getByLabel("Metadata (JSON)");
  await until(() => page.evaluate("document.querySelector('textarea')?.value.includes('1')"));
  await editor.fill("{ not json");
  await page.getByRole("button", { name: "Save metadata" }).click();
  await page.getByText("This is not valid JSON").waitFor();
  // Such an id would be kept as another, and of two values of a name one would be lost.
  for (const [typed, refusal] of [
    ['{ "id": 1234567890123456789 }', "send it as a string"],
    ['{ "b": 1, "b": 2 }', "has the same key twice"],
  ] as const) {
    await editor.fill(typed);
    await page.getByRole("button", { name: "Save metadata" }).click();
    await page.getByRole("alert").getByText(refusal).waitFor();
  }
  await editor.fill('{ "b": 2 }');
  await page.getByRole("button", { name: "Save metadata" }).click();
  await page.getByText("Saved").waitFor();
  const { body } = await app.call("GET", `files/${encodeURIComponent(key)}`, { key: tenant.live });
  assert.deepEqual(body.file.metadata, { b: 2 });
  assert.equal(await copyWith(page, page.getByRole("button", { name: "Copy URL" })), url);
  await page.getByRole("link", { name: "Open in the image studio" }).click();
  await page.getByRole("heading", { name: "Image studio" }).waitFor();
  await context.close();
});

test("a file opened by its URL has the focus, and none of its buttons is marked", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { id } = await uploadFile(dashboard.app, "x", { key: tenant.live, name: "a.txt" });
  const { page, context } = await openFiles(tenant);
  await page.goto(`${dashboard.app.url}/dashboard/${tenant.projectId}/live/files/${id}`);
  await page.getByRole("dialog", { name: "a.txt" }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.localName"), "dialog");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.ariaLabel"), "Previous file");
  await context.close();
});

slowTest("by keyboard alone a file is found, opened, chosen, deleted and brought back", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  for (const name of ["a.txt", "b.txt"]) await uploadFile(dashboard.app, "x", { key: tenant.live, name });
  const { page, context } = await openFiles(tenant, { hasOwnClock: true });
  await byName(page, "b.txt").waitFor();
  await stopClock(page);
  const focused = () =>
    page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent");
  const tabTo = async (name: string) => {
    for (let i = 0; i < 40 && (await focused()) !== name; i++) await page.keyboard.press("Tab");
    assert.equal(await focused(), name);
  };
  await tabTo("b.txt");
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), "a.txt");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(), "Select a.txt");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Delete 1" }).waitFor();
  for (let i = 0; i < 20 && (await focused()) !== "Delete 1"; i++) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await byName(page, "a.txt").waitFor({ state: "detached" });
  await tabTo("Undo");
  await page.keyboard.press("Enter");
  await byName(page, "a.txt").waitFor();
  await context.close();
});

test("a viewer sees files and can change none; what cannot be loaded says why", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  await uploadFile(dashboard.app, "x", { key: tenant.live, name: "a.txt" });
  const { page, context } = await openFiles(tenant);
  await byName(page, "a.txt").waitFor();
  await page.route("**/search?*", (route) => route.abort());
  await page.getByLabel("Search by name").fill("a");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/search?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("The server cannot be reached.").waitFor({ state: "detached" });
  await byName(page, "a.txt").waitFor();
  await page.route("**/api/projects", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const project of body.projects) project.role = "viewer";
    await route.fulfill({ response, json: body });
  });
  await page.reload();
  await byName(page, "a.txt").click();
  assert.equal(await page.getByRole("button", { name: /Delete|Upload|Save metadata/ }).count(), 0);
  await context.close();
});

/** A tenth of a second of nothing, as WAV. */
function silence(): Buffer {
  const samples = 800;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}
