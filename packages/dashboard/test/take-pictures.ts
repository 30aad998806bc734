// Takes every page of the dashboard with sample data, at five widths, in both themes:
//   npx node packages/dashboard/test/take-pictures.ts [folder] [page…]
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { uploadFile } from "../../server/test/support/upload.ts";
import { addDelivery } from "./support/add-delivery.ts";
import { startDashboard } from "./support/open-dashboard.ts";
import { untilSettled } from "./support/settled.ts";

const widths = [390, 820, 1024, 1440, 1920];
const [folder = "pictures", ...wanted] = process.argv.slice(2);

const dashboard = await startDashboard();
const { app } = dashboard;
const { owner } = app;
const full = await app.createTenant("pro");
const empty = await app.createTenant("pro");
await mkdir(folder, { recursive: true });

for (const slug of ["avatars", "invoices"])
  await app.call("POST", `projects/${full.projectId}/routers`, { key: full.live, body: { slug } });
const picture = (background: string, width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
for (const [name, type, bytes] of [
  ["harbour-at-dawn.png", "image/png", await picture("#24507a", 1600, 1000)],
  ["portrait-of-mina.png", "image/png", await picture("#b4562b", 800, 1200)],
  ["invoice-2026-0412.pdf", "application/pdf", Buffer.from("%PDF-1.4 sample")],
  ["quarterly-figures.csv", "text/csv", Buffer.from("month,sum\n2026-01,12\n".repeat(400))],
  ["team-meeting.mp3", "audio/mpeg", Buffer.alloc(240_000)],
  ["notes about the very long road to a readable file name.txt", "text/plain", Buffer.from("Notes")],
] as const)
  await uploadFile(app, bytes, { key: full.live, name, type, metadata: { album: "spring" } });
const { files } = (await app.call("GET", "files", { key: full.live })).body;
for (let i = 0; i < 12; i++) {
  const isBroken = i % 5 === 0;
  await addDelivery(app, full, {
    fileName: files[i % files.length].name,
    state: isBroken ? "dead" : "delivered",
    url: i % 3 === 0 ? "https://billing.example.com/uploads" : "https://api.example.com/hooks/upstow",
    attempts: [
      isBroken
        ? { status_code: 500, error: "server_error", response: "Internal error" }
        : { status_code: 204, error: null, response: "" },
    ],
  });
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
  ["files-grid", `${inFull}/files`, (page) => page.getByRole("button", { name: "Grid" }).click()],
  ["file", `${inFull}/files/${files.at(-1).id}`],
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
  ["account", `${inFull}/account`],
  ["not-found", `${inFull}/nothing`],
];

const chosen = visits.filter(([name]) => wanted.length === 0 || wanted.includes(name));
for (const colorScheme of ["light", "dark"] as const) {
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
