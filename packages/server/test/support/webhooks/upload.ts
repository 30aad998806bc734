import type { Answer, CallOptions } from "../start-app.ts";
import { put } from "../upload-client.ts";

interface Api {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** Uploads a small file by the public API, so that its event is made as in real use. */
export async function uploadFile(
  app: Api,
  key: string,
  routeSlug: string,
  metadata: object = {},
): Promise<{ id: string; key: string }> {
  return completeUpload(app, key, await openUpload(app, key, routeSlug, metadata));
}

/** Up to its completion; returns the file's id. */
export async function openUpload(
  app: Api,
  key: string,
  routeSlug: string,
  metadata: object = {},
): Promise<string> {
  const requested = await app.call("POST", "upload/request", {
    key,
    body: { fileName: "a.txt", fileSize: 5, contentType: "text/plain", routeSlug, metadata },
  });
  if (requested.status !== 200)
    throw new Error(`The request answered ${requested.status}: ${JSON.stringify(requested.body)}`);
  const sent = await put(requested.body.uploadUrl, Buffer.from("hello"));
  if (!sent.ok) throw new Error(`PUT answered ${sent.status}`);
  return requested.body.fileId;
}

export async function completeUpload(
  app: Api,
  key: string,
  fileId: string,
): Promise<{ id: string; key: string }> {
  const completed = await app.call("POST", "upload/complete", { key, body: { fileId } });
  return completed.body.file;
}
