import {
  type BulkDeleteResult,
  type ClaimedFiles,
  type CompletedFile,
  type CreatedLinks,
  ErrorEnvelope,
  type FileListItem,
  type FileObject,
  type RestoredFiles,
  type RevokedLinks,
  Type,
} from "@upstow/contract";
import type { FileImportRow } from "../db/files-schema.ts";
import type { FileRow } from "../db/schema.ts";
import { errorBody } from "../http/error-handler.ts";
import { notFound } from "../kernel/errors.ts";
import { isId } from "../kernel/ids.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { type Cdn, fileUrl } from "../projects/file-url.ts";
import { fileIdIn } from "../storage/storage-key.ts";
import { readFocus, readImageFacts } from "./image-facts.ts";
import type { ListedFile } from "./queries.ts";

export function toListItem(cdn: Cdn, row: ListedFile): FileListItem {
  return {
    id: row.id,
    key: row.key,
    name: row.name,
    size: row.size_bytes,
    type: row.type,
    url: fileUrl(cdn, row.key),
    status: row.status,
    access: row.access,
    detectedType: row.detected_type,
    scan: row.scan,
    ...(row.audience === null ? {} : { audience: row.audience }),
    expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
    claimBy: showClaimBy(row),
    sha256: row.sha256,
    createdAt: isoTime(row.created_at),
  };
}

/** Its time begins when the scan is done. */
function showClaimBy({ claim_by, scan }: ListedFile): string | null {
  return claim_by === null || scan === "pending" ? null : isoTime(claim_by);
}

export function toCompletedFile(cdn: Cdn, row: FileRow): CompletedFile {
  return { ...toListItem(cdn, row), metadata: JSON.parse(row.metadata) };
}

export function toFile(cdn: Cdn, row: FileRow): FileObject {
  return {
    ...toCompletedFile(cdn, row),
    updatedAt: isoTime(row.updated_at),
    ...showFocus(row.focus),
    image: readImageFacts(row),
  };
}

function showFocus(focus: string | null): Pick<FileObject, "focus"> {
  const point = readFocus(focus);
  return point === null ? {} : { focus: point };
}

/** With how far its import is, or why it failed. */
export function toImportedFile(cdn: Cdn, row: FileRow, found: FileImportRow | null): FileObject {
  const file = toFile(cdn, row);
  if (found === null) return file;
  const { received_bytes: receivedBytes, total_bytes: totalBytes, failure, message } = found;
  if (row.status === "UPLOADING") return { ...file, progress: { receivedBytes, totalBytes } };
  return failure === null ? file : { ...file, failure: { reason: failure, message: message ?? "" } };
}

/** How statements find a file by its key. */
export interface NamedFile {
  id: string;
  /** May be an id where callers can use either. */
  key: string;
}

/** A key contains its file's id, which is used to find the row; a second index on long keys would slow every upload. */
export function nameFile(key: string): NamedFile {
  return { id: isId(key) ? key : fileIdIn(key), key };
}

/** The same for statements that find any number of files. */
export function nameFiles(keysOrIds: string[]): { idsJson: string; namesJson: string } {
  return {
    idsJson: JSON.stringify(keysOrIds.map((name) => nameFile(name).id)),
    namesJson: JSON.stringify(keysOrIds),
  };
}

type BulkResult =
  | typeof BulkDeleteResult
  | typeof ClaimedFiles
  | typeof RestoredFiles
  | typeof CreatedLinks
  | typeof RevokedLinks;

/** The responses of a call that names many files. */
export const bulkResponses = <Result extends BulkResult>(result: Result) => ({
  200: result,
  207: result,
  404: Type.Object({ ...result.properties, ...ErrorEnvelope.properties }),
});

/** 200 if all files were found, 207 if some were. */
export function bulkStatus(found: number, missing: string[]): 200 | 207 | 404 {
  if (missing.length === 0) return 200;
  return found > 0 ? 207 : 404;
}

/** The body for that status: if none was found, it also has `error`. */
export function bulkBody<Result extends object>(status: 200 | 207 | 404, result: Result): Result {
  return status === 404 ? { ...result, ...errorBody(notFound("These files were")) } : result;
}

export const toFailures = (missing: string[]) =>
  missing.map((key) => ({ key, code: "NOT_FOUND" as const, message: "File not found." }));

/** The keys and ids that name none of these files. */
export function listMissing(keysOrIds: string[], files: { id: string; key: string }[]): string[] {
  const found = new Set(files.flatMap(({ id, key }) => [id, key]));
  return keysOrIds.filter((name) => !found.has(name));
}
