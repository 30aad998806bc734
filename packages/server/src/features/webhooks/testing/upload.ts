import type { Answer, CallOptions } from "../../../../test/support/start-app.ts";

/** Uploads a small file by the public API, so that its event is made as in real use. */
export async function uploadFile(
  app: { call(method: string, path: string, options?: CallOptions): Promise<Answer> },
  key: string,
  routeSlug: string,
  metadata: object = {},
): Promise<{ id: string; key: string }> {
  const requested = await app.call("POST", "upload/request", {
    key,
    body: { fileName: "a.txt", fileSize: 5, contentType: "text/plain", routeSlug, metadata },
  });
  const put = await fetch(requested.body.uploadUrl, {
    method: "PUT",
    headers: { "content-type": "text/plain" },
    body: "hello",
  });
  if (!put.ok) throw new Error(`PUT answered ${put.status}`);
  const completed = await app.call("POST", "upload/complete", {
    key,
    body: { fileId: requested.body.fileId },
  });
  return completed.body.file;
}
