import {
  AbortMultipartBody,
  CompletedFile,
  CompleteMultipartBody,
  CompleteUploadBody,
  InitiatedMultipart,
  Ok,
  PART_SIZE_BYTES,
  PART_URL_SEC,
  PATH_PARAM_MAX,
  ReceivedParts,
  RequestedUpload,
  RequestUploadBody,
  SINGLE_URL_SEC,
  SignedParts,
  SignPartsBody,
  Type,
  UPLOAD_ID_MAX,
} from "@upstow/contract";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { type ApiApp, signalGone } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { cdnFor, fileUrl } from "../../projects/file-url.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { toCompletedFile } from "../serialize.ts";
import { uploadBatchRoutes } from "./batch-routes.ts";
import { completeMultipart, completeSingle } from "./finish-upload.ts";
import { uploadGrantRoutes } from "./grants/routes.ts";
import { abortMultipart, listReceivedParts, signAllParts, signParts } from "./multipart.ts";
import { initMultipart, repeatUpload, requestUpload } from "./request-upload.ts";
import { partCount } from "./rules.ts";

const tags = ["uploads"];
const rateWindow = "upload";
const openErrors = ["INVALID_FILE_TYPE", "TIER_LIMIT_EXCEEDED", "NOT_FOUND"] as const;
const completeErrors = [
  "NOT_FOUND",
  "FILE_NOT_IN_STORAGE",
  "CONTENT_MISMATCH",
  "INSUFFICIENT_STORAGE",
] as const;
const FileEnvelope = Type.Object({ file: CompletedFile });

export function uploadRoutes(app: ApiApp, deps: Deps): void {
  const { config } = deps;

  const toRequested = async (actor: Actor, file: FileRow) => ({
    fileId: file.id,
    uploadUrl: await (await deps.stores.get(file.store)).presignPut({
      key: objectKey(file),
      contentType: file.type,
      sizeBytes: file.size_bytes,
      expiresInSec: SINGLE_URL_SEC,
    }),
    key: file.key,
    cdnUrl: fileUrl(cdnFor(config, actor), file.key),
  });

  const toInitiated = async (actor: Actor, file: FileRow) => ({
    fileId: file.id,
    uploadId: file.upload_id ?? "",
    key: file.key,
    cdnUrl: fileUrl(cdnFor(config, actor), file.key),
    partSize: PART_SIZE_BYTES,
    parts: await signAllParts(deps, actor, file),
  });

  app.post(
    "/upload/request",
    {
      schema: {
        tags,
        summary: "Request a presigned URL",
        body: RequestUploadBody,
        response: { 200: RequestedUpload },
      },
      config: {
        rateWindow,
        errors: openErrors,
        // Only the ids are stored, so a repeated call gets newly signed URLs.
        replay: async ({ actor }, stored) =>
          toRequested(
            actor,
            await repeatUpload(deps, actor, (stored as { fileId: string }).fileId, SINGLE_URL_SEC),
          ),
      },
    },
    async (request) => {
      const { actor, body, idempotency } = request;
      const file = await requestUpload(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, 200, { fileId: saved.id }),
      );
      request.fileId = file.id;
      return toRequested(actor, file);
    },
  );

  app.post(
    "/upload/complete",
    {
      schema: {
        tags,
        summary: "Confirm that the PUT finished",
        body: CompleteUploadBody,
        response: { 200: FileEnvelope },
      },
      config: { rateWindow, errors: completeErrors },
    },
    async ({ actor, body, idempotency }) => {
      const file = await completeSingle(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, 200, { file: toCompletedFile(cdnFor(config, actor), saved) }),
      );
      return { file: toCompletedFile(cdnFor(config, actor), file) };
    },
  );

  uploadBatchRoutes(app, deps, toRequested);
  uploadGrantRoutes(app, deps);

  app.post(
    "/upload/multipart/init",
    {
      schema: {
        tags,
        summary: "Start a multipart upload",
        body: RequestUploadBody,
        response: { 200: InitiatedMultipart },
      },
      config: {
        rateWindow,
        isLarge: true,
        errors: ["FILE_TOO_SMALL_FOR_MULTIPART", ...openErrors],
        replay: async ({ actor }, stored) =>
          toInitiated(
            actor,
            await repeatUpload(deps, actor, (stored as { fileId: string }).fileId, PART_URL_SEC),
          ),
      },
    },
    async (request) => {
      const { actor, body, idempotency } = request;
      const file = await initMultipart(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, 200, { fileId: saved.id }),
      );
      request.fileId = file.id;
      return toInitiated(actor, file);
    },
  );

  app.get(
    "/upload/multipart/:fileId",
    {
      schema: {
        tags,
        summary: "List the parts received so far",
        params: Type.Object({ fileId: Type.String({ minLength: 1, maxLength: PATH_PARAM_MAX }) }),
        querystring: Type.Object({ uploadId: Type.String({ minLength: 1, maxLength: UPLOAD_ID_MAX }) }),
        response: { 200: ReceivedParts },
      },
      config: { rateWindow },
    },
    async ({ actor, params, query }, reply) => {
      const ref = { fileId: params.fileId, uploadId: query.uploadId };
      const { file, parts } = await listReceivedParts(deps, actor, ref, signalGone(reply.raw));
      return {
        ...ref,
        key: file.key,
        partSize: PART_SIZE_BYTES,
        partCount: partCount(file.size_bytes),
        parts: parts.map((part) => ({
          partNumber: part.partNumber,
          etag: part.etag,
          size: part.sizeBytes,
          receivedAt: isoTime(part.receivedAt),
        })),
      };
    },
  );

  app.post(
    "/upload/multipart/sign",
    {
      schema: {
        tags,
        summary: "Get new URLs for parts",
        body: SignPartsBody,
        response: { 200: SignedParts },
      },
      config: {
        rateWindow,
        isLarge: true,
        errors: ["NOT_FOUND"],
        replay: async ({ actor, body }) => ({ parts: await signParts(deps, actor, body as SignPartsBody) }),
      },
    },
    async ({ actor, body, idempotency }) => {
      const parts = await signParts(deps, actor, body);
      await idempotency.remember(deps.db, 200, {});
      return { parts };
    },
  );

  app.post(
    "/upload/multipart/complete",
    {
      schema: {
        tags,
        summary: "Assemble the parts",
        body: CompleteMultipartBody,
        response: { 200: FileEnvelope },
      },
      config: { rateWindow, errors: completeErrors },
    },
    async ({ actor, body, idempotency }) => {
      const file = await completeMultipart(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, 200, { file: toCompletedFile(cdnFor(config, actor), saved) }),
      );
      return { file: toCompletedFile(cdnFor(config, actor), file) };
    },
  );

  app.post(
    "/upload/multipart/abort",
    {
      schema: { tags, summary: "Abort a multipart upload", body: AbortMultipartBody, response: { 200: Ok } },
      config: { rateWindow, errors: ["NOT_FOUND"] },
    },
    async ({ actor, body, idempotency }) => {
      await abortMultipart(deps, actor, body, (tx) => idempotency.remember(tx, 200, { ok: true }));
      return { ok: true };
    },
  );
}
