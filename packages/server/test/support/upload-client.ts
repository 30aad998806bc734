import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { PART_SIZE_BYTES } from "@upstow/contract";
import { exchange } from "./exchange.ts";
import type { Answer, TestApp } from "./start-app.ts";

export interface UploadFields {
  fileName?: string;
  fileSize?: number;
  contentType?: string;
  routeSlug?: string;
  metadata?: Record<string, unknown>;
  access?: "public" | "private";
  audience?: string;
  expiresIn?: number;
  expiresAt?: string;
}

export const smallBody = Buffer.from("hello bytes");

/** What a client does, call by call. Calls that tests expect to succeed assert so. */
export function createUploadClient(app: Pick<TestApp, "call" | "logLines">, key: string) {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call("POST", path, { key, body, headers });

  const requestAnswer = (fields: UploadFields = {}, headers?: Record<string, string>) =>
    post(
      "upload/request",
      {
        fileName: "hello.txt",
        fileSize: smallBody.length,
        contentType: "text/plain",
        routeSlug: "default",
        ...fields,
      },
      headers,
    );

  const initAnswer = (fields: UploadFields = {}, headers?: Record<string, string>) =>
    post(
      "upload/multipart/init",
      {
        fileName: "big.bin",
        fileSize: 2 * PART_SIZE_BYTES + 1000,
        contentType: "application/octet-stream",
        routeSlug: "default",
        ...fields,
      },
      headers,
    );

  const client = {
    key,
    post,
    requestAnswer,
    initAnswer,

    async request(fields: UploadFields = {}): Promise<RequestedUpload> {
      return succeed(app, await requestAnswer(fields));
    },

    async init(fields: UploadFields = {}): Promise<InitiatedUpload> {
      return succeed(app, await initAnswer(fields));
    },

    complete: (fileId: string, metadata?: unknown) =>
      post("upload/complete", { fileId, ...(metadata === undefined ? {} : { metadata }) }),

    completeParts: (upload: { fileId: string; uploadId: string }, parts: Part[], metadata?: unknown) =>
      post("upload/multipart/complete", {
        fileId: upload.fileId,
        uploadId: upload.uploadId,
        parts,
        ...(metadata === undefined ? {} : { metadata }),
      }),

    abort: ({ fileId, uploadId }: { fileId: string; uploadId: string }) =>
      post("upload/multipart/abort", { fileId, uploadId }),

    sign: ({ fileId, uploadId }: { fileId: string; uploadId: string }, partNumbers: number[]) =>
      post("upload/multipart/sign", { fileId, uploadId, partNumbers }),

    listParts: ({ fileId, uploadId }: { fileId: string; uploadId: string }) =>
      app.call("GET", `upload/multipart/${fileId}?uploadId=${uploadId}`, { key }),

    get: (fileKey: string) => app.call("GET", `files/${encodeURIComponent(fileKey)}`, { key }),
    list: (query = "") => app.call("GET", `files${query}`, { key }),
    patch: (fileKey: string, body: unknown) =>
      app.call("PATCH", `files/${encodeURIComponent(fileKey)}`, { key, body }),
    remove: (fileKey: string) => app.call("DELETE", `files/${encodeURIComponent(fileKey)}`, { key }),
    removeAll: (keys: unknown) => app.call("DELETE", "files", { key, body: { keys } }),
    purge: (keys: string[]) => app.call("DELETE", "files", { key, body: { keys, purge: true } }),
    claim: (keys: string[]) => post("files/claim", { keys }),
    restore: (keys: string[]) => post("files/restore", { keys }),

    async usage(): Promise<{
      storageBytes: number;
      uploads: number;
      bandwidthBytes: number;
      period: string;
    }> {
      const answer = await app.call("GET", "usage", { key });
      assert.equal(answer.status, 200);
      return answer.body.usage;
    },

    /** The whole way of a small file. */
    async upload(bytes: Uint8Array = smallBody, fields: UploadFields = {}): Promise<UploadedFile> {
      const upload = await client.request({ fileSize: bytes.length, ...fields });
      const sent = await put(upload.uploadUrl, bytes, fields.contentType ?? "text/plain");
      assert.equal(sent.status, 200);
      const done = await client.complete(upload.fileId);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      return done.body.file;
    },

    /** The whole way of a file in pieces, cut where the caller likes. */
    async uploadPieces(pieces: Uint8Array[], fields: UploadFields = {}): Promise<UploadedFile> {
      const upload = await client.init({ ...fields, fileSize: sumBytes(pieces) });
      const done = await client.completeParts(upload, await putParts(upload, pieces));
      assert.equal(done.status, 200, JSON.stringify(done.body));
      return done.body.file;
    },
  };
  return client;
}

export type UploadClient = ReturnType<typeof createUploadClient>;

export interface Part {
  partNumber: number;
  etag: string;
}

export interface RequestedUpload {
  fileId: string;
  uploadUrl: string;
  key: string;
  cdnUrl: string;
}

export interface InitiatedUpload {
  fileId: string;
  uploadId: string;
  key: string;
  partSize: number;
  parts: { partNumber: number; uploadUrl: string }[];
}

export interface UploadedFile {
  id: string;
  key: string;
  name: string;
  size: number;
  type: string;
  url: string;
  status: string;
  sha256: string | null;
  createdAt: string;
  expiresAt: string | null;
  claimBy: string | null;
}

export async function put(url: string, body: Uint8Array, contentType = "text/plain"): Promise<Response> {
  const { status, headers, bytes } = await exchange(url, "PUT", { "content-type": contentType }, body);
  return new Response(bytes as Buffer<ArrayBuffer>, { status, headers });
}

/** Sends the pieces as parts 1, 2, … and returns what completion asks for. */
export async function putParts(upload: InitiatedUpload, pieces: Uint8Array[]): Promise<Part[]> {
  const parts: Part[] = [];
  for (const [i, piece] of pieces.entries()) {
    const target = upload.parts[i];
    if (target === undefined) throw new Error(`the upload has no part ${i + 1}`);
    const sent = await put(target.uploadUrl, piece, "application/octet-stream");
    assert.equal(sent.status, 200);
    parts.push({ partNumber: target.partNumber, etag: sent.headers.get("etag") ?? "" });
  }
  return parts;
}

/** Random bytes cut into parts as the service hands them out: two full ones and a rest. */
export function partPieces(restBytes = 1000): Buffer[] {
  return [randomBytes(PART_SIZE_BYTES), randomBytes(PART_SIZE_BYTES), randomBytes(restBytes)];
}

function sumBytes(pieces: Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function succeed<T>(app: Pick<TestApp, "logLines">, answer: Answer): T {
  const lastError = app.logLines.findLast((line) => line.includes('"err"'));
  assert.equal(
    answer.status,
    200,
    `${JSON.stringify(answer.body)}\n${answer.status >= 500 ? lastError : ""}`,
  );
  return answer.body;
}
