import sharp from "sharp";
import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { createAccount } from "../../../server/src/projects/accounts/accounts.ts";
import { countBandwidth } from "../../../server/src/projects/usage/queries.ts";
import { noteUsageDays } from "../../../server/src/projects/usage/usage-days.ts";
import type { Tenant, TestApp } from "../../../server/test/support/start-app.ts";
import { uploadFile } from "../../../server/test/support/upload.ts";
import { addDelivery } from "./add-delivery.ts";

const day = 86_400_000;
const routes = ["avatars", "invoices", "product-photos"];
const hostile = [
  "תמונה מהחופשה בחיפה 2026.png",
  "عقد الإيجار - النسخة النهائية.pdf",
  "bidi\u202egnp.exe",
  `board minutes ${"and appendices ".repeat(14)}.pdf`,
  "写真とメモ_最終版.heic",
  "🌊 waves.webp",
];
const kinds: [extension: string, type: string][] = [
  ["jpg", "image/jpeg"],
  ["png", "image/png"],
  ["webp", "image/webp"],
  ["pdf", "application/pdf"],
  ["csv", "text/csv"],
  ["mp3", "audio/mpeg"],
  ["wav", "audio/wav"],
  ["zip", "application/zip"],
  ["json", "application/json"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["txt", "text/plain"],
];
const subjects =
  "harbour-at-dawn,portrait-of-mina,team-offsite,lighthouse,quarterly-figures,invoice-2026-04,ferry-timetable,dunes,regatta-final,release-notes,floor-plan,recipe-card".split(
    ",",
  );

/** A picture that differs from the one before, so that a list of them looks like one. */
export function paint(i: number) {
  const hue = (i * 47) % 360;
  const [width, height] = i % 3 === 0 ? [600, 900] : [900, 600];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 600" width="${width}" height="${height}" preserveAspectRatio="xMidYMid slice"><linearGradient id="g" x2="0.3" y2="1"><stop stop-color="hsl(${hue} 70% 78%)"/><stop offset="1" stop-color="hsl(${hue + 50} 60% 45%)"/></linearGradient><rect width="900" height="600" fill="url(#g)"/><circle cx="${200 + ((i * 70) % 560)}" cy="170" r="70" fill="#fff8"/><path d="M0 420q150-${60 + ((i * 9) % 200)} 300 0t300 0 300 0v180H0z" fill="hsl(${hue + 40} 50% 30% / .7)"/></svg>`;
  return sharp(Buffer.from(svg));
}

/** A white page, so that thumbnails can be made of it where there are tools for that. */
const pdf =
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 280]>>endobj\ntrailer<</Root 1 0 R>>\n";

async function bytesOf(extension: string, i: number): Promise<Buffer> {
  if (extension === "jpg") return paint(i).jpeg({ quality: 80 }).toBuffer();
  if (extension === "png") return paint(i).png().toBuffer();
  if (extension === "webp") return paint(i).webp().toBuffer();
  if (extension === "csv") return Buffer.from(`month,sum\n${`2026-01,${i}\n`.repeat(40 + i)}`);
  if (extension === "json") return Buffer.from(JSON.stringify({ order: i, lines: ["a", "b"] }, null, 2));
  if (extension === "txt") return Buffer.from(`Notes of day ${i}\n`.repeat(i + 1));
  if (extension === "pdf") return Buffer.from(pdf);
  return Buffer.alloc(20_000 + ((i * 91_733) % 900_000), i);
}

/** A month of a project that is in use: files of many kinds, failed deliveries, members, other projects. */
export async function addSampleData(app: TestApp, tenant: Tenant, fileCount = 240): Promise<void> {
  const now = app.clock.now();
  await addFiles(app, tenant, fileCount, now);
  await addDeliveries(app, tenant, now);
  moveTo(app, now);
  await addMembers(app, tenant.projectId, now);
  for (const name of ["Harbour guide", "متجر الكتب", "Internal tools for the whole northern region"])
    await app.call("POST", "projects", { key: tenant.live, body: { name } });
}

/** The clock goes on from there: what happens one after the other is listed in this order. */
const moveTo = ({ clock }: TestApp, time: number) => clock.advance(time - clock.now());

async function addFiles(app: TestApp, { projectId, live: key }: Tenant, count: number, now: number) {
  const { deps } = app.app;
  const ids = new Map<string, string>();
  for (const slug of routes) {
    const { body } = await app.call("POST", `projects/${projectId}/routers`, { key, body: { slug } });
    ids.set(slug, body.router.id);
  }
  for (let i = 0; i < count; i++) {
    moveTo(app, now - ((count - i) * 26 * day) / count);
    const [extension, type] = kinds[(i * 7) % kinds.length] ?? ["txt", "text/plain"];
    const name = `${subjects[(i * 5) % subjects.length]}-${i}.${extension}`;
    await uploadFile(app, await bytesOf(extension, i), {
      key,
      name: hostile[i - count + 10] ?? name,
      type,
      routeSlug: routes[i % (routes.length + 1)] ?? "default",
      metadata: i % 4 === 0 ? { album: "spring", order: i } : {},
    });
    const bandwidthBytes = 1_000_000 + ((i * 7_919_333) % 40_000_000);
    const period = new Date(app.clock.now()).toISOString().slice(0, 7);
    await deps.db.change(countBandwidth, { projectId, environment: "live", period, bandwidthBytes });
    await noteUsageDays(deps);
  }
  // Only now: nobody receives what these uploads would have sent.
  const body = { webhookUrl: "https://billing.example.com/uploads" };
  await app.call("PATCH", `routers/${ids.get("invoices")}`, { key, body });
}

const failed = {
  status_code: 500,
  error: "server_error",
  response: '{"error":"database is locked"}',
} as const;
const sent = { status_code: 204, error: null, response: "" };

function attemptsOf(i: number) {
  if (i % 9 === 0) return [failed, failed, failed];
  return i % 7 === 0 ? [failed, sent] : [sent];
}

async function addDeliveries(app: TestApp, tenant: Tenant, now: number): Promise<void> {
  for (let i = 0; i < 48; i++) {
    moveTo(app, now - (48 - i) * day * 0.25);
    await addDelivery(app, tenant, {
      fileName: hostile[i] ?? `${subjects[i % subjects.length]}-${i}.jpg`,
      routeSlug: i % 3 === 0 ? "invoices" : "avatars",
      state: i % 9 === 0 ? "dead" : "delivered",
      url: i % 3 === 0 ? "https://billing.example.com/uploads" : "https://api.example.com/hooks/upstow",
      attempts: attemptsOf(i),
    });
  }
}

async function addMembers(app: TestApp, projectId: string, now: number): Promise<void> {
  const password = "correct horse battery";
  for (const [email, role] of [
    ["mina.park@example.com", "developer"],
    ["a.very.long.address.of.somebody@subsidiary.example.co.uk", "viewer"],
    ["omar@example.com", "owner"],
  ] as const) {
    const { id: accountId } = await createAccount(app.app.deps, { email, password, tier: "free" });
    await app.app.deps.db.transact((tx) => tx.run(putMember, { projectId, accountId, role, now }));
  }
}
