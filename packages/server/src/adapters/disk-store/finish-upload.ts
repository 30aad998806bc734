import { createHash } from "node:crypto";
import type { Database, Queryable } from "../../db/database.ts";
import type { ClaimedPart, FinishMultipartResult, MultipartRef } from "../../ports/object-store.ts";
import { etagOf } from "./object-records.ts";
import { deletePart, finishUploadRow, listPartRows, lockUpload, type PartRow } from "./part-records.ts";

type Outcome = { result: FinishMultipartResult; unused: string[] };
type Problem = Extract<FinishMultipartResult, { ok: false }>["problem"];

/**
 * Makes an object of exactly the claimed parts: a list of blobs, nothing is copied. One transaction under the
 * upload's lock, so no part can change between the check and the end.
 */
export function finishUpload(
  db: Database,
  upload: MultipartRef & { sizeBytes: number; parts: ClaimedPart[] },
  now: number,
): Promise<Outcome> {
  return db.transact(async (tx) => {
    const row = await lockUpload(tx, upload.uploadId);
    if (row === null || row.key !== upload.key || row.state === "gone")
      return failed("unknown-upload", "There is no such upload.");

    const received = await listPartRows(tx, upload.uploadId);
    const problem = findProblem(received, upload);
    if (problem !== null) return problem;
    if (row.state === "final") return finished(row.size_bytes, row.etag ?? "", []);

    const unused = await deleteUnclaimed(tx, upload, received);
    const claimed = new Set(upload.parts.map((part) => part.partNumber));
    const etag = multipartEtag(received.filter((part) => claimed.has(part.part_number)));
    await finishUploadRow(tx, {
      uploadId: upload.uploadId,
      etag,
      sizeBytes: upload.sizeBytes,
      now,
    });
    return finished(upload.sizeBytes, etag, unused);
  });
}

function findProblem(
  received: PartRow[],
  upload: { sizeBytes: number; parts: ClaimedPart[] },
): Outcome | null {
  const byNumber = new Map(received.map((part) => [part.part_number, part]));
  let total = 0;
  for (const { partNumber, etag } of upload.parts) {
    const part = byNumber.get(partNumber);
    if (part === undefined || part.damaged === 1)
      return failed("missing-part", `Part ${partNumber} has not been uploaded.`);
    if (etag.replaceAll('"', "") !== etagOf(part.sha256))
      return failed("wrong-etag", `The etag of part ${partNumber} does not match.`);
    total += part.size_bytes;
  }
  if (total === upload.sizeBytes) return null;
  return failed("wrong-size", `The parts add up to ${total} bytes, not to ${upload.sizeBytes}.`);
}

async function deleteUnclaimed(
  tx: Queryable,
  upload: MultipartRef & { parts: ClaimedPart[] },
  received: PartRow[],
) {
  const claimed = new Set(upload.parts.map((part) => part.partNumber));
  const unused: string[] = [];
  for (const { part_number } of received) {
    if (claimed.has(part_number)) continue;
    unused.push(...(await deletePart(tx, { uploadId: upload.uploadId, partNumber: part_number })));
  }
  return unused;
}

function multipartEtag(parts: PartRow[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part.sha256, "hex");
  return `${etagOf(hash.digest("hex"))}-${parts.length}`;
}

function failed(problem: Problem, message: string): Outcome {
  return { result: { ok: false, problem, message }, unused: [] };
}

function finished(sizeBytes: number, etag: string, unused: string[]): Outcome {
  return { result: { ok: true, object: { sizeBytes, etag, sha256: null } }, unused };
}
