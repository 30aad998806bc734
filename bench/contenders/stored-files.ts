import { randomBytes } from "node:crypto";
import { openConnection } from "../harness/connection.ts";
import type { Upstow } from "./upstow.ts";

const contentType = "application/octet-stream";

/** Uploads random bytes, whole, and returns the path at which they are served. */
export async function storeFile(upstow: Upstow, sizeBytes: number): Promise<string> {
  const { fileId, uploadPath, servedPath } = await requestUpload(upstow, sizeBytes);
  const put = await fetch(`${upstow.url}${uploadPath}`, {
    method: "PUT",
    headers: { "content-type": contentType },
    body: randomBytes(sizeBytes),
  });
  if (!put.ok) throw new Error(`PUT: ${put.status} ${await put.text()}`);
  await call(upstow, "/api/v1/upload/complete", { fileId });
  return servedPath;
}

const pieceBytes = 1024 * 1024;

/** A PUT of any size, from one piece of memory. */
export async function putRepeatedly(port: number, path: string, sizeBytes: number): Promise<void> {
  const piece = randomBytes(Math.min(pieceBytes, sizeBytes));
  const connection = await openConnection(port);
  const head = `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${contentType}\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
  const { status, body } = await connection.send(head, piece, sizeBytes / piece.length);
  connection.close();
  if (status >= 300) throw new Error(`PUT ${path}: ${status} ${body}`);
}

/** As `storeFile`, for files that do not fit in memory. */
export async function storeLarge(upstow: Upstow, sizeBytes: number): Promise<string> {
  const { fileId, uploadPath, servedPath } = await requestUpload(upstow, sizeBytes);
  await putRepeatedly(upstow.port, uploadPath, sizeBytes);
  await call(upstow, "/api/v1/upload/complete", { fileId });
  return servedPath;
}

/** Opens an upload; the path takes PUTs until it is completed. */
export async function requestUpload(upstow: Upstow, sizeBytes: number) {
  const answer = await call<{ fileId: string; uploadUrl: string; cdnUrl: string }>(
    upstow,
    "/api/v1/upload/request",
    { fileName: "bench.bin", fileSize: sizeBytes, contentType, routeSlug: "default" },
  );
  return {
    fileId: answer.fileId,
    uploadPath: new URL(answer.uploadUrl).pathname,
    servedPath: new URL(answer.cdnUrl).pathname,
  };
}

/** A POST with a key, or an error that shows the answer. */
export async function call<Answer>(upstow: Upstow, path: string, body: object): Promise<Answer> {
  const response = await fetch(`${upstow.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${upstow.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
