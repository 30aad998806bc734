import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import type { Tenant } from "../../../server/test/support/start-app.ts";
import { createUploadClient } from "../../../server/test/support/upload-client.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { expectGoodLook } from "../support/good-look.ts";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";
import { copyWith } from "../support/settled.ts";

let dashboard: Dashboard;
let photo: Buffer;
before(async () => {
  dashboard = await startDashboard();
  photo = await sharp({ create: { width: 400, height: 300, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();
});
after(() => dashboard.close());

const pageUrl = ({ projectId }: Tenant, name: string) =>
  `${dashboard.app.url}/dashboard/${projectId}/live/${name}`;
const byName = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialogOf = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });
const upload = (tenant: Tenant, name: string, type: string, bytes: Buffer) =>
  createUploadClient(dashboard.app, tenant.live).upload(bytes, {
    fileName: name,
    contentType: type,
    fileSize: bytes.length,
    access: "private",
  });

/** The text behind a link, or why it has ended. */
async function read(url: string): Promise<string> {
  const response = await fetch(url);
  if (response.ok) return response.text();
  return ((await response.json()) as { error: { message: string } }).error.message;
}

test("a route is made private, and links to its files are created, used up and ended", async () => {
  const tenant = await dashboard.app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(pageUrl(tenant, "routes"));
  await page.getByRole("button", { name: "Edit" }).click();
  const form = dialogOf(page, "Edit route");
  await form.getByText("Anyone who has the URL can read the file. Applies to new uploads.").waitFor();
  await form.getByLabel("Access").selectOption("Private");
  await form
    .getByText("The URL returns 404. Only links and grants open the file. Applies to new uploads.")
    .waitFor();
  await expectGoodLook(page, "the form of a private route");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("img", { name: "Private" }).waitFor();

  await page.goto(pageUrl(tenant, "files"));
  await page
    .getByLabel("Files to upload")
    .setInputFiles({ name: "secret.txt", mimeType: "text/plain", buffer: Buffer.from("the secret") });
  const row = page.getByRole("row").filter({ has: byName(page, "secret.txt") });
  await row.getByRole("img", { name: "Private" }).waitFor();
  await expectGoodLook(page, "the list with a private file");
  await byName(page, "secret.txt").click();
  const panel = dialogOf(page, "secret.txt");
  await panel.getByLabel("Preview").getByText("the secret").waitFor();

  const create = async (fill: (form: ReturnType<typeof dialogOf>) => Promise<void>) => {
    await panel.getByRole("button", { name: "Create link", exact: true }).click();
    const dialog = dialogOf(page, "Create link");
    await fill(dialog);
    await dialog.getByRole("button", { name: "Create link" }).click();
    const copy = dialog.getByRole("button", { name: "Copy link" });
    await copy.waitFor();
    const url = await copyWith(page, copy);
    assert.equal(await dialog.locator("output").textContent(), url);
    return url;
  };
  const closeTop = async () => {
    await page.keyboard.press("Escape");
    await dialogOf(page, "Create link").waitFor({ state: "detached" });
  };
  const once = await create(async (dialog) => {
    await dialog.getByLabel("Maximum uses").fill("1");
    await dialog.getByLabel("Download instead of opening in the browser").check();
    await expectGoodLook(page, "the form of a link");
  });
  await page.getByText("or after 1 use.").waitFor();
  await expectGoodLook(page, "a link");
  await closeTop();
  const links = panel.getByRole("list", { name: "Links with limited uses" });
  await links.getByText("1 of 1 uses left").waitFor();
  const head = await fetch(once, { method: "HEAD" });
  assert.match(head.headers.get("content-disposition") ?? "", /^attachment/);
  assert.equal(await read(once), "the secret");
  assert.equal(await read(once), "used up");

  const lasting = await create(async (dialog) => {
    assert.equal(await dialog.getByLabel("Expires after").inputValue(), "3600");
    await dialog.getByLabel("Expires after").selectOption("7 days");
  });
  assert.equal(await read(lasting), "the secret");
  await closeTop();
  await links.getByText("used up").waitFor();
  await expectGoodLook(page, "the panel of a private file with a link");

  await panel.getByRole("button", { name: "Revoke all links" }).click();
  const ending = dialogOf(page, "Revoke all links");
  await ending.getByText("This cannot be undone. You can create new links afterwards.").waitFor();
  await expectGoodLook(page, "the end of all links");
  await ending.getByRole("button", { name: "Revoke all links" }).click();
  await panel.getByText("All links revoked").waitFor();
  await links.waitFor({ state: "detached" });
  assert.equal(await read(lasting), "revoked");
  // What the panel itself shows and gives away has been renewed.
  const opened = await copyWith(page, panel.getByRole("button", { name: "Copy temporary link" }));
  assert.equal(await read(opened), "the secret");
  assert.equal(await panel.getByRole("link", { name: "Open", exact: true }).getAttribute("href"), opened);
  await panel.getByLabel("Preview").getByText("the secret").waitFor();
  await context.close();
});

test("a file is made private and public again, and its audience is set", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const file = await createUploadClient(app, tenant.live).upload(Buffer.from("hello bytes"));
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(pageUrl(tenant, "files"));
  await byName(page, "hello.txt").click();
  const panel = dialogOf(page, "hello.txt");
  await panel.getByText("Anyone who has the URL can read the file.").waitFor();
  await panel.getByRole("button", { name: "Copy URL" }).waitFor();
  const change = async (access: string, audience: string) => {
    await panel.getByRole("button", { name: "Change access" }).click();
    const dialog = dialogOf(page, "Change access");
    await dialog.getByLabel("Access").selectOption(access);
    await dialog.getByLabel("Audience").fill(audience);
    await dialog.getByRole("button", { name: "Save" }).click();
    await panel.getByText("Access changed").waitFor();
  };
  const lock = page.getByRole("table").getByRole("img", { name: "Private", includeHidden: true });
  await change("Private", "order:981");
  await panel.getByText("Audience: order:981").waitFor();
  await panel.getByRole("button", { name: "Copy temporary link" }).waitFor();
  await lock.waitFor();
  assert.equal((await fetch(file.url)).status, 404);
  await change("Public", "");
  await panel.getByText("Anyone who has the URL can read the file.").waitFor();
  await panel.getByText("Audience: order:981").waitFor({ state: "detached" });
  await lock.waitFor({ state: "detached" });
  assert.equal((await fetch(file.url)).status, 200);
  await context.close();
});

test("private images, PDF and text are shown in the list, the panel and the studio, to a viewer too", async () => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { accountId } = await app.createTenant("free");
  const member = { projectId: tenant.projectId, accountId, role: "viewer" as const, now: 0 };
  await app.app.deps.db.run(putMember, member);
  await upload(tenant, "a.png", "image/png", photo);
  await upload(tenant, "a.txt", "text/plain", Buffer.from("in private"));
  await upload(tenant, "a.pdf", "application/pdf", Buffer.from("%PDF-1.4\n%%EOF"));
  const { page, context } = await dashboard.open(accountId);
  const violations: string[] = [];
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) violations.push(message.text());
  });
  await page.goto(pageUrl(tenant, "files"));
  const look = async (name: string) => {
    await byName(page, name).click();
    return dialogOf(page, name);
  };
  // By its button: the keys may belong to the browser's own viewer of PDF.
  const close = async () => {
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  const panel = await look("a.png");
  await until(() => page.evaluate("document.querySelector('dialog img')?.naturalWidth === 400"));
  assert.equal(await panel.getByRole("button", { name: /access|Create link|End all/ }).count(), 0);
  const opening = context.waitForEvent("page");
  await panel.getByRole("link", { name: "Open", exact: true }).click();
  const opened = await opening;
  await until(() => opened.evaluate("document.images[0]?.naturalWidth === 400"));
  await opened.close();
  await close();
  await (await look("a.txt")).getByLabel("Preview").getByText("in private").waitFor();
  await close();
  const answered = page.waitForResponse((response) => response.url().endsWith("/a.pdf"));
  await look("a.pdf");
  assert.deepEqual(
    [(await answered).status(), (await answered).headers()["content-type"]],
    [200, "application/pdf"],
  );
  await close();
  await page.getByRole("button", { name: "Grid" }).click();
  await until(() => page.evaluate("document.querySelector('.tile img')?.naturalWidth === 320"));
  await page.getByRole("img", { name: "Private" }).first().waitFor();
  await expectGoodLook(page, "the grid of private files");

  await page.goto(pageUrl(tenant, "studio"));
  await until(() => page.evaluate("document.querySelector('.pick img')?.naturalWidth === 320"));
  await page.getByRole("button", { name: "a.png" }).click();
  await page.getByText("400 × 300 pixels").waitFor();
  assert.deepEqual(await page.getByLabel("Delivery").locator("option").allTextContents(), ["signed"]);
  assert.deepEqual(violations, []);
  await context.close();
});
