import { createHash } from "node:crypto";
import type { Queryable } from "../../db/database.ts";
import type { FinishMultipart, FinishMultipartResult } from "../object-store.ts";
import { etagOf } from "./object-records.ts";
import { finishUploadRow, listPartRows, lockUpload, type PartRow } from "./part-records.ts";

type Refusal = Extract<FinishMultipartResult, { ok: false }>;

/**
 * Makes an object of exactly the claimed parts: a list of blobs, nothing is copied. It holds the upload's lock, so no
 * part can change between the check and the end. A part that is not claimed is empty, or all together would be more
 * than was announced, and goes with the object.
 */
export async function finishUpload(
  tx: Queryable,
  upload: FinishMultipart,
  now: number,
): Promise<FinishMultipartResult> {
  const { uploadId, sizeBytes } = upload;
  const row = await lockUpload(tx, uploadId);
  if (row === null || row.key !== upload.key || row.state === "gone")
    return refused("unknown-upload", "There is no such upload.");

  const claimed = takeClaimed(await listPartRows(tx, uploadId), upload);
  if (!Array.isArray(claimed)) return claimed;
  const etag = row.etag ?? multipartEtag(claimed);
  if (row.state === "open") await finishUploadRow(tx, { uploadId, etag, sizeBytes, now });
  return { ok: true, object: { sizeBytes, etag, sha256: null } };
}

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
  return refused("wrong-size", `The parts add up to ${total} bytes, not to ${upload.sizeBytes}.`);
}

function multipartEtag(parts: PartRow[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part.sha256, "hex");
  return `${etagOf(hash.digest("hex"))}-${parts.length}`;
}

function refused(problem: Refusal["problem"], message: string): Refusal {
  return { ok: false, problem, message };
}
