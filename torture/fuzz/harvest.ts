import type { FuzzAnswer } from "./client.ts";
import type { FuzzRequest } from "./requests.ts";
import { type Actor, remember } from "./tenants.ts";

interface Found {
  fileId?: string;
  uploadId?: string;
  uploadUrl?: string;
  key?: string | { id: string };
  nextCursor?: string | null;
  project?: { _id: string };
  router?: { id: string; slug: string };
  deliveries?: { id: string }[];
  delivery?: { id: string };
  links?: { url: string }[];
  grant?: { token: string };
  /** Of an image variant. */
  url?: string;
  current?: string;
  next?: string;
}

/** Later requests ask for what earlier ones have made. */
export function harvest(request: FuzzRequest, actor: Actor, { status, json }: FuzzAnswer): void {
  if (status >= 300 || typeof json !== "object" || json === null) return;
  const found = json as Found;
  if (found.fileId !== undefined && typeof found.key === "string" && request.method === "POST")
    rememberFile(request, actor, found);
  if (typeof found.key === "object") remember(actor.keys, found.key.id);
  if (found.project !== undefined && status === 201) remember(actor.projects, found.project._id);
  if (found.router !== undefined && found.router.slug !== "default") {
    remember(actor.routers, found.router.id);
    remember(actor.slugs, found.router.slug);
  }
  for (const { id } of found.deliveries ?? []) remember(actor.deliveries, id);
  if (found.delivery !== undefined) remember(actor.deliveries, found.delivery.id);
  for (const { url } of found.links ?? []) remember(actor.links, new URL(url).pathname);
  if (found.grant !== undefined) remember(actor.grants, found.grant.token);
  if (request.path.endsWith("/transforms/image") && found.url !== undefined)
    remember(actor.variants, new URL(found.url).pathname);
  if (found.current?.startsWith("rdk_") && found.next !== undefined)
    actor.readKeys = [found.current, found.next];
  if (typeof found.nextCursor === "string") remember(actor.cursors, found.nextCursor);
}

function rememberFile(request: FuzzRequest, actor: Actor, found: Found): void {
  const { fileSize = 0, contentType = "" } = JSON.parse(request.body ?? "{}");
  remember(actor.files, {
    fileId: found.fileId ?? "",
    key: String(found.key),
    uploadId: found.uploadId ?? null,
    uploadUrl: found.uploadUrl ?? null,
    sizeBytes: fileSize,
    contentType,
    parts: null,
  });
}
