import { createHash } from "node:crypto";
import type { Database, Queryable } from "../../db/database.ts";
import { randomText } from "../../kernel/ids.ts";
import type { AppendTarget, FinishMultipart, FinishMultipartResult, ObjectStore } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { buryObject, etagOf, findStored } from "./object-records.ts";
import {
  findMultipart,
  finishUploadRow,
  listPartRows,
  lockUpload,
  openUpload,
  type PartRow,
  type UploadRow,
} from "./part-records.ts";
import type { SignUrl } from "./presigned-url.ts";

type Multipart = Pick<
  ObjectStore,
  "startMultipart" | "presignParts" | "listParts" | "finishMultipart" | "abortMultipart"
>;

export function createDiskMultipart(
  db: Database,
  files: BlobFiles,
  signUrl: SignUrl,
  now: () => number,
): Multipart {
  return {
    async startMultipart({ key, sizeBytes }) {
      const uploadId = randomText(26);
      await openUpload(db, { key, uploadId, sizeBytes });
      return uploadId;
    },

    async presignParts({ uploadId, sizeBytes, partNumbers, expiresInSec }) {
      return partNumbers.map((partNumber) =>
        signUrl({ kind: "part", uploadId, partNumber, maxBytes: sizeBytes }, expiresInSec),
      );
    },

    async listParts({ key, uploadId }) {
      const upload = await findMultipart(db, uploadId);
      if (upload?.key !== key || upload.state !== "open") return null;
      const rows = await listPartRows(db, uploadId);
      return rows
        .filter((row) => row.damaged === 0)
        .map((row) => ({
          partNumber: row.part_number,
          etag: etagOf(row.sha256),
          sizeBytes: row.size_bytes,
          receivedAt: row.received_at,
        }));
    },

    finishMultipart: (upload) => db.transact((tx) => finishUpload(tx, upload, now())),

    async abortMultipart({ key, uploadId }) {
      const unused = await db.transact(async (tx) => {
        const upload = await lockUpload(tx, uploadId);
        return upload?.key === key && upload.state === "open" ? buryObject(tx, key, now()) : [];
      });
      await files.remove(unused);
    },
  };
}

type Refusal = Extract<FinishMultipartResult, { ok: false }>;

/**
 * Assembles an object from exactly the claimed parts: a list of blobs, nothing is copied. It holds the upload's lock,
 * so no part can change between the check and the end. An unclaimed part must be empty, or the total would exceed the
 * declared size; it is deleted together with the object.
 */
export async function finishUpload(
  tx: Queryable,
  upload: FinishMultipart,
  now: number,
): Promise<FinishMultipartResult> {
  const { uploadId, sizeBytes } = upload;
  const row = await lockUpload(tx, uploadId);
  // It became a single blob when its metadata was stripped.
  const stored = row === null ? await findStored(tx, upload.key) : null;
  if (stored?.sizeBytes === sizeBytes) return { ok: true, object: stored };
  if (row === null || row.key !== upload.key || row.state === "gone") return unknown;

  const claimed = takeClaimed(await listPartRows(tx, uploadId), upload);
  if (!Array.isArray(claimed)) return claimed;
  return assemble(tx, row, claimed, { uploadId, sizeBytes, now });
}

/** Assembles an object from all of its parts. May be repeated, also for one that became a single blob instead. */
export async function finishAppended(
  tx: Queryable,
  { key, uploadId, offset }: AppendTarget,
  now: number,
): Promise<FinishMultipartResult> {
  const row = await lockUpload(tx, uploadId);
  if (row?.key !== key || row.state === "gone") {
    const object = await findStored(tx, key);
    return object === null ? unknown : { ok: true, object };
  }
  const parts = await listPartRows(tx, uploadId);
  const total = parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  if (total === offset && parts.every(({ damaged }) => damaged === 0))
    return assemble(tx, row, parts, { uploadId, sizeBytes: offset, now });
  return refused("wrong-size", `The parts add up to ${total} bytes, not ${offset}.`);
}

async function assemble(
  tx: Queryable,
  row: UploadRow,
  parts: PartRow[],
  upload: { uploadId: string; sizeBytes: number; now: number },
): Promise<FinishMultipartResult> {
  const etag = row.etag ?? multipartEtag(parts);
  if (row.state === "open") await finishUploadRow(tx, { ...upload, etag });
  return { ok: true, object: { sizeBytes: upload.sizeBytes, etag, sha256: null } };
}

const unknown = refused("unknown-upload", "Upload not found.");

function takeClaimed(received: PartRow[], upload: FinishMultipart): PartRow[] | Refusal {
  const byNumber = new Map(received.map((part) => [part.part_number, part]));
  const claimed: PartRow[] = [];
  let total = 0;
  for (const { partNumber, etag } of upload.parts) {
    const part = byNumber.get(partNumber);
    if (part === undefined || part.damaged === 1)
      return refused("missing-part", `Part ${partNumber} has not been uploaded.`);
    if (etag.replaceAll('"', "") !== etagOf(part.sha256))
      return refused("wrong-etag", `The etag of part ${partNumber} does not match.`);
    claimed.push(part);
    total += part.size_bytes;
  }
  if (total === upload.sizeBytes) return claimed;
  return refused("wrong-size", `The parts add up to ${total} bytes, not ${upload.sizeBytes}.`);
}

function multipartEtag(parts: PartRow[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part.sha256, "hex");
  return `${etagOf(hash.digest("hex"))}-${parts.length}`;
}

function refused(problem: Refusal["problem"], message: string): Refusal {
  return { ok: false, problem, message };
}
