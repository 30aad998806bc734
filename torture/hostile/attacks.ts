import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { BULK_DELETE_MAX, MB, METADATA_MAX_BYTES } from "@upstow/contract";
import { craftGif, craftPng, noise } from "../../packages/server/test/support/render/test-images.ts";
import type { Attacker } from "./attacker.ts";

export type Attack = (attacker: Attacker) => Promise<void>;

interface Wanted {
  name?: string;
  size?: number;
  type?: string;
  routeSlug?: string;
  metadata?: Record<string, unknown>;
}

const request = (
  { api }: Attacker,
  { name = "hostile", size = 10, type = "text/plain", ...rest }: Wanted,
  key?: string,
) =>
  api(
    "POST",
    "upload/request",
    { fileName: name, fileSize: size, contentType: type, routeSlug: "default", ...rest },
    key,
  );

const put = (url: string, body: Buffer<ArrayBuffer>, type: string) =>
  fetch(url, { method: "PUT", headers: { "content-type": type }, body }).then(async (answer) => {
    await answer.arrayBuffer();
    return answer.status;
  });

/** The whole way of one file; null where a quota or a rate limit said no. */
export async function store(
  attacker: Attacker,
  bytes: Buffer<ArrayBuffer>,
  wanted: Wanted = {},
): Promise<StoredFile | null> {
  const { type = "text/plain" } = wanted;
  const asked = await request(attacker, { ...wanted, size: bytes.length });
  if (asked.status !== 200) return null;
  await put(asked.body.uploadUrl, bytes, type);
  const done = await attacker.api("POST", "upload/complete", { fileId: asked.body.fileId });
  return done.status === 200 ? done.body.file : null;
}

export interface StoredFile {
  key: string;
  url: string;
}

/** H2: metadata that makes a careless search quadratic. */
export async function searchPatterns(attacker: Attacker): Promise<void> {
  const { projectId, dashboard, repeat } = attacker;
  const metadata = { text: "a".repeat(METADATA_MAX_BYTES - 100) };
  const patterns = [`${"a".repeat(254)}b`, `${"a".repeat(63)}b`, "%_".repeat(32), "\\".repeat(64)];
  const place = `/in/${projectId}/live`;
  await Promise.all([
    repeat(600, () => store(attacker, Buffer.from("0123456789"), { metadata })),
    ...patterns.flatMap((pattern) => [
      repeat(200, () => dashboard("GET", `${place}/search?metadata=${encodeURIComponent(pattern)}`)),
      repeat(200, () => dashboard("GET", `${place}/logs/search?text=${encodeURIComponent(pattern)}`)),
    ]),
  ]);
}

/** H3: as many long routes as there is room for, listed all the time. */
export async function pileUpRoutes(attacker: Attacker): Promise<void> {
  const { projectId, dashboard, repeat } = attacker;
  const place = `/in/${projectId}/live/projects/${projectId}/routers`;
  const longTypes = (count: number) =>
    Array.from({ length: count }, (_, i) => `application/${"x".repeat(80)}${i}`);
  let made = 0;
  await Promise.all([
    repeat(50, () =>
      dashboard("POST", place, { slug: `r${made++}`, allowedTypes: longTypes(made % 10 === 0 ? 1_000 : 40) }),
    ),
    ...Array.from({ length: 4 }, () => repeat(500, () => dashboard("GET", place))),
  ]);
}

/** H5: new keys for new windows. */
export async function multiplyKeys(attacker: Attacker): Promise<void> {
  const { projectId, dashboard, repeat, count } = attacker;
  const keys: { id: string; secret: string }[] = [];
  await Promise.all([
    repeat(100, async () => {
      const path = `/in/${projectId}/live/projects/${projectId}/keys`;
      const { status, body } = await dashboard("POST", path, { name: "more" });
      if (status === 201) {
        count("keys created");
        keys.push({ id: body.key.id, secret: body.secret });
      }
      const old = keys.length > 1 || status === 403 ? keys.shift() : undefined;
      if (old !== undefined) await dashboard("DELETE", `/in/${projectId}/live/keys/${old.id}`);
    }),
    ...Array.from({ length: 4 }, () =>
      repeat(20, async () => {
        const { status } = await request(attacker, {}, keys.at(-1)?.secret);
        if (status === 200) count("upload requests granted by key");
      }),
    ),
  ]);
}

/** H4: reserve, delete the project, create the next one. */
export async function churnProjects({ dashboard, repeat, count }: Attacker): Promise<void> {
  await repeat(500, async () => {
    const { status, body } = await dashboard("POST", "/projects", { name: "churn" });
    if (status !== 201) return;
    const { id } = body.project;
    const fields = { fileName: "x", fileSize: 4 * MB, contentType: "text/plain", routeSlug: "default" };
    for (let i = 0; i < 20; i++) {
      const asked = await dashboard("POST", `/in/${id}/live/upload/request`, fields);
      if (asked.status === 200) count("upload requests granted in short-lived projects");
    }
    await dashboard("DELETE", `/projects/${id}`);
  });
}

/** M3: many bodies for one URL, and bodies that never end. */
export async function crowdUploadUrl(attacker: Attacker): Promise<void> {
  const size = 4 * MB;
  const { repeat } = attacker;
  await Promise.all([
    repeat(3_000, async () => {
      const asked = await request(attacker, { size });
      if (asked.status !== 200) return;
      const body = Buffer.alloc(size);
      await Promise.allSettled(
        Array.from({ length: 10 }, () => put(asked.body.uploadUrl, body, "text/plain")),
      );
    }),
    repeat(5_000, async () => {
      const asked = await request(attacker, { size });
      if (asked.status !== 200) return;
      const sockets = await Promise.all(
        Array.from({ length: 10 }, () => openSlowly(attacker, "PUT", asked.body.uploadUrl, size)),
      );
      await wait(20_000);
      for (const socket of sockets) socket.destroy();
    }),
  ]);
}

/** M5: readers that take nothing. */
export async function readNothing(attacker: Attacker): Promise<void> {
  const file = await store(attacker, Buffer.alloc(4 * MB, 1));
  if (file === null) return;
  const open: Socket[] = [];
  await attacker.repeat(100, async () => {
    open.push(await openSlowly(attacker, "GET", file.url, 0));
    // As many as the review tried.
    if (open.length > 150) open.shift()?.destroy();
  });
  for (const socket of open) socket.destroy();
}

/** A request whose body, if any, stops after one byte, and whose response nobody reads. */
export async function openSlowly(
  { url: service }: Attacker,
  method: string,
  url: string,
  length: number,
  headers: Record<string, string> = { "content-type": "text/plain" },
): Promise<Socket> {
  const { pathname, search } = new URL(url);
  const { hostname, port, host } = new URL(service);
  const socket = connect(Number(port), hostname).pause();
  socket.on("error", () => {});
  await once(socket, "connect");
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...fields];
  if (method !== "GET") head.push(`Content-Length: ${length}`);
  socket.write(`${head.join("\r\n")}\r\n\r\n${method === "GET" ? "" : "x"}`);
  return socket;
}

/** M4: pictures that are dear to decode, asked for as previews and as thumbnails, some given up at once. */
export async function renderBombs(attacker: Attacker): Promise<void> {
  const { projectId, dashboard, repeat } = attacker;
  const bombs: [string, Buffer][] = [
    ["image/png", craftPng(7_000, 7_000, Buffer.alloc(7_000 * 7_001))],
    ["image/png", craftPng(60_000, 60_000, Buffer.alloc(10))],
    ["image/gif", craftGif(5_000, 5_000, 2_000)],
    ["image/jpeg", await noise(1_600, 1_200, 3).jpeg({ quality: 90 }).toBuffer()],
  ];
  const files: StoredFile[] = [];
  for (const [type, bytes] of bombs) {
    const file = await store(attacker, Buffer.from(bytes), { type });
    if (file !== null) files.push(file);
  }
  let asked = 0;
  const preview = async () => {
    const file = files[asked % files.length];
    const query = new URLSearchParams({
      key: file?.key ?? "none",
      width: String(1 + (asked++ % 4_000)),
      fit: "cover",
      quality: "90",
      format: "avif",
    });
    return dashboard("GET", `/in/${projectId}/live/studio?${query}`);
  };
  const thumbnails = async () => {
    const { body } = await dashboard("GET", `/in/${projectId}/live/search?type=image`);
    for (const { thumbnailUrl } of body.files ?? [])
      if (thumbnailUrl !== null)
        await fetch(thumbnailUrl, { signal: AbortSignal.timeout(50) }).then((a) => a.arrayBuffer());
  };
  await Promise.all([...Array.from({ length: 8 }, () => repeat(50, preview)), repeat(500, thumbnails)]);
}

/** Bodies, lists and streams at the edge of what is allowed. */
export async function pushLimits(attacker: Attacker): Promise<void> {
  const { api, url, key, repeat, count } = attacker;
  const keys = Array.from({ length: BULK_DELETE_MAX }, (_, i) => `${"k".repeat(800)}${i}`);
  const deep = "[".repeat(500_000);
  await Promise.all([
    repeat(3_000, () => api("DELETE", "files", { keys })),
    repeat(1_000, () => api("POST", "upload/request", deep)),
    repeat(1_000, () => api("GET", `files?cursor=${"c".repeat(6_000)}`)),
    repeat(500, () => askTools(url, "a ".repeat(200_000))),
    repeat(500, async () => {
      const answer = await fetch(`${url}/api/v1/events/stream`, {
        headers: { authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(10_000),
      });
      count(`event streams with ${answer.status}`);
      await answer.arrayBuffer();
    }),
  ]);
}

async function askTools(url: string, query: string): Promise<void> {
  const params = { name: "search_docs", arguments: { query } };
  const answer = await fetch(`${url}/api/v1/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  await answer.arrayBuffer();
}
