// Takes every page of the dashboard with sample data, at five widths, in both themes:
//   npx node packages/dashboard/test/take-pictures.ts [folder] [page…]
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { startDashboard } from "./support/open-dashboard.ts";
import { addSampleData } from "./support/sample-data.ts";
import { untilSettled } from "./support/settled.ts";

const widths = [390, 820, 1024, 1440, 1920];
const [folder = "pictures", ...wanted] = process.argv.slice(2);

const dashboard = await startDashboard();
const { app } = dashboard;
const { owner } = app;
const full = await app.createTenant("pro");
const empty = await app.createTenant("pro");
await mkdir(folder, { recursive: true });

await addSampleData(app, full);
const { files } = (await app.call("GET", "files", { key: full.live })).body;

interface Named {
  name: string;
}
const imageFile = files.find(({ name }: Named) => name.endsWith(".webp"));

const trashed = files.filter(({ name }: Named) => /\.(?:pdf|csv|txt)$/.test(name)).slice(0, 3);
const kept = await app.call("PATCH", `projects/${full.projectId}`, {
  key: full.live,
  body: { trashDays: 30 },
});
if (kept.status !== 200) throw new Error("the trash could not be turned on");
for (const { id } of trashed) {
  const gone = await app.call("DELETE", `files/${id}`, { key: full.live });
  if (gone.status !== 200) throw new Error("the trash could not be filled");
}

type Visit = [name: string, path: string, prepare?: (page: Page) => Promise<void>];
const inFull = `/${full.projectId}/live`;
const visits: Visit[] = [
  ["overview", `${inFull}/overview`],
  ["overview-empty", `/${empty.projectId}/live/overview`],
  ["files", `${inFull}/files`],
  ["files-empty", `/${empty.projectId}/test/files`],
  [
    "files-selected",
    `${inFull}/files`,
    async (page) => {
      await page
        .getByRole("checkbox", { name: /^Select / })
        .nth(1)
        .check();
      await page
        .getByRole("checkbox", { name: /^Select / })
        .nth(2)
        .check();
    },
  ],
  ["files-search", `${inFull}/files?name=harbour`],
  ["files-nothing", `${inFull}/files?name=nothing-like-this`],
  ["files-folder", `${inFull}/files?routeSlug=avatars`],
  ["file", `${inFull}/files/${imageFile.id}`],
  [
    "file-timeline",
    `${inFull}/files/${imageFile.id}`,
    (page) => page.getByRole("region", { name: "Timeline" }).scrollIntoViewIfNeeded(),
  ],
  [
    "file-link",
    `${inFull}/files/${imageFile.id}`,
    (page) => page.getByRole("button", { name: "Create link" }).click(),
  ],
  ["file-bidi", `${inFull}/files/${files.find(({ name }: Named) => name.includes("\u202e")).id}`],
  ["file-missing", `${inFull}/files/00000000-0000-7000-8000-000000000000`],
  [
    "files-bulk",
    `${inFull}/files`,
    async (page) => {
      await page
        .getByRole("checkbox", { name: /^Select / })
        .nth(1)
        .check();
      await page.getByRole("button", { name: /metadata/i }).click();
    },
  ],
  [
    "files-expiry",
    `${inFull}/files`,
    async (page) => {
      await page
        .getByRole("checkbox", { name: /^Select / })
        .nth(1)
        .check();
      await page.getByRole("button", { name: "Expiry" }).click();
    },
  ],
  [
    "files-uploads",
    `${inFull}/files`,
    async (page) => {
      await page
        .locator("input[type=file]")
        .first()
        .setInputFiles([
          { name: "harbour.txt", mimeType: "text/plain", buffer: Buffer.from("Ships") },
          { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) },
        ]);
      await page.waitForTimeout(1500);
    },
  ],
  // The browser remembers it: after the states that are shown as a list.
  ["files-grid", `${inFull}/files`, (page) => page.getByRole("button", { name: "Grid" }).click()],
  ["studio", `${inFull}/studio`],
  ["routes", `${inFull}/routes`],
  ["route-form", `${inFull}/routes`, (page) => page.getByRole("button", { name: "Create route" }).click()],
  ["webhooks", `${inFull}/webhooks`],
  [
    "delivery",
    `${inFull}/webhooks`,
    (page) => page.getByRole("list", { name: "Deliveries" }).getByRole("button").first().click(),
  ],
  ["logs", `${inFull}/logs`],
  ["usage", `${inFull}/usage`],
  ["members", `${inFull}/members`],
  ["audit", `${inFull}/audit`],
  ...["keys", "project", "storage", "delivery", "signing"].map(
    (section): Visit => [`settings-${section}`, `${inFull}/settings/${section}`],
  ),
  ["palette", `${inFull}/overview`, (page) => page.keyboard.press("ControlOrMeta+k")],
  [
    "palette-search",
    `${inFull}/overview`,
    async (page) => {
      await page.keyboard.press("ControlOrMeta+k");
      await page.keyboard.type("webhook");
      await page.waitForTimeout(800);
    },
  ],
  ["trash", `${inFull}/trash`],
  [
    "trash-selected",
    `${inFull}/trash`,
    (page) =>
      page
        .getByRole("checkbox", { name: /^Select / })
        .nth(1)
        .check(),
  ],
  ["trash-empty", `/${empty.projectId}/live/trash`],
  ["webhooks-empty", `/${empty.projectId}/live/webhooks`],
  ["logs-empty", `/${empty.projectId}/test/logs`],
  ["studio-empty", `/${empty.projectId}/live/studio`],
  [
    "create-key",
    `${inFull}/settings/keys`,
    (page) => page.getByRole("button", { name: "Create key" }).click(),
  ],
  ["invite", `${inFull}/members`, (page) => page.getByRole("button", { name: "Invite member" }).click()],
  [
    "more-ways",
    `${inFull}/files`,
    (page) => page.getByRole("button", { name: "More ways to upload" }).click(),
  ],
  ["account", `/account`],
  ["not-found", `${inFull}/nothing`],
];

const chosen = visits.filter(([name]) => wanted.length === 0 || wanted.includes(name));
for (const colorScheme of ["dark", "light"] as const) {
  for (const account of [full.accountId, empty.accountId]) {
    const { page, context } = await dashboard.open(account, { colorScheme });
    for (const [name, path, prepare] of chosen) {
      if (path.startsWith(`/${empty.projectId}`) !== (account === empty.accountId)) continue;
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`${app.url}/dashboard${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await untilSettled(page);
      await prepare?.(page);
      for (const width of widths) {
        await page.setViewportSize({ width, height: width < 500 ? 844 : 900 });
        await untilSettled(page);
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
    }
    await context.close();
  }
  const { page, context } = await dashboard.open(owner.accountId, { colorScheme });
  for (const [name, path] of [["admin", "/admin"]] as const) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await page.goto(`${app.url}/dashboard${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await untilSettled(page);
      await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
    }
  }
  await context.close();
}
await dashboard.close();
await (await getBrowser()).close();
