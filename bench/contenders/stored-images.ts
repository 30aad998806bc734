import { call } from "./stored-files.ts";
import type { Upstow } from "./upstow.ts";

export interface Ask {
  width: number;
  height?: number;
  fit?: string;
  quality?: number;
  format: string;
}

/** Uploads an image and returns its key. */
export async function storeImage(upstow: Upstow, bytes: Buffer, contentType: string): Promise<string> {
  const { fileId, uploadUrl, key } = await call<{ fileId: string; uploadUrl: string; key: string }>(
    upstow,
    "/api/v1/upload/request",
    { fileName: "image", fileSize: bytes.length, contentType, routeSlug: "default" },
  );
  const put = await fetch(upstow.url + new URL(uploadUrl).pathname, {
    method: "PUT",
    headers: { "content-type": contentType },
    body: new Uint8Array(bytes),
  });
  if (!put.ok) throw new Error(`PUT: ${put.status} ${await put.text()}`);
  await call(upstow, "/api/v1/upload/complete", { fileId });
  return key;
}

/** Asks for a variant, and returns the path at which it is. */
export async function requestVariant(upstow: Upstow, key: string, ask: Ask): Promise<string> {
  const body = { key, delivery: "public", ...ask };
  const { url } = await call<{ url: string }>(upstow, "/api/v1/transforms/image", body);
  return new URL(url).pathname;
}
