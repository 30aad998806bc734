import assert from "node:assert/strict";
import type { Answer, TestApp } from "./start-app.ts";
import { put } from "./upload-client.ts";

export interface UploadOptions {
  key: string;
  name?: string;
  type?: string;
  routeSlug?: string;
  metadata?: Record<string, unknown>;
}

/** Request, PUT and complete, as a client would; returns the file object of the last answer. */
export async function uploadFile(
  app: Pick<TestApp, "call">,
  bytes: Uint8Array | string,
  options: UploadOptions,
): Promise<Answer["body"]> {
  const body = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
  const type = options.type ?? "text/plain";
  const requested = await app.call("POST", "upload/request", {
    key: options.key,
    body: {
      fileName: options.name ?? "file.txt",
      fileSize: body.byteLength,
      contentType: type,
      routeSlug: options.routeSlug ?? "default",
      ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
    },
  });
  assert.equal(requested.status, 200, JSON.stringify(requested.body));
  assert.equal((await put(requested.body.uploadUrl, body, type)).status, 200);
  const completed = await app.call("POST", "upload/complete", {
    key: options.key,
    body: { fileId: requested.body.fileId },
  });
  assert.equal(completed.status, 200, JSON.stringify(completed.body));
  return completed.body.file;
}
