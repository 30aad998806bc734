import type { FileRouteRow, FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { type ObjectStore, StorageUnavailable, type StoredObject } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { removeBytes } from "../storage-deletions.ts";
import { failUpload } from "../uploads/fail-upload.ts";
import { giveRefusedPlaceBack } from "../uploads/grants/queries.ts";
import { mediaType } from "../uploads/media-type.ts";
import { laneOf, markRefused } from "../uploads/queries.ts";
import type { Sample } from "./detect-type.ts";
import {
  type ByteStretch,
  findCompoundDirectory,
  findZipDirectory,
  isCompound,
  isZip,
  zipTailBytes,
} from "./families.ts";
import type { TypeVerdict } from "./type-detector.ts";

const headBytes = 16 * 1024;
/** Reads a stretch of an object's bytes; null if they are no longer those that were finalised. */
type Read = (stretch: ByteStretch) => Promise<Buffer | null>;

/**
 * Judges a file by the bytes that will be confirmed: they are final, so no PUT changes them any more. Null if they
 * are gone.
 */
export async function checkContent(
  deps: Pick<Deps, "stores" | "typeDetector">,
  file: FileRow,
  route: FileRouteRow,
  object: StoredObject,
): Promise<TypeVerdict | null> {
  const store = await deps.stores.get(file.store);
  const sample = await withinTime((signal) =>
    readSample(
      (stretch) => readStretch(store, objectKey(file), object.etag, stretch, signal),
      object.sizeBytes,
    ),
  );
  if (sample === null) return null;
  const allowedTypes: string[] = JSON.parse(route.allowed_types);
  const verdict = await deps.typeDetector.judge({ ...sample, declared: file.type, allowedTypes });
  if (verdict === null) throw notExamined();
  return verdict;
}

/** At most three reads: the start, and for containers the end and the directory. */
async function readSample(read: Read, sizeBytes: number): Promise<Sample | null> {
  const head = await read({ start: 0, length: Math.min(headBytes, sizeBytes) });
  if (head === null) return null;
  if (isZip(head)) {
    const length = Math.min(zipTailBytes, sizeBytes);
    const start = sizeBytes - length;
    const tail = await read({ start, length });
    if (tail === null) return null;
    const place = findZipDirectory(tail, sizeBytes);
    if (place === null) return { head, directory: null, sizeBytes };
    const isInTail = place.start >= start;
    const directory = isInTail ? tail.subarray(place.start - start) : await read(place);
    return directory && { head, directory, sizeBytes };
  }
  if (!isCompound(head)) return { head, directory: null, sizeBytes };
  const place = findCompoundDirectory(head, sizeBytes);
  const directory = place && (await read(place));
  return { head, directory, sizeBytes };
}

const notExamined = () =>
  new AppError("SERVICE_UNAVAILABLE", "The file's content could not be examined.", {
    suggestion: "Complete the upload again in a few seconds.",
    headers: { "retry-after": "5" },
  });

interface Refusal {
  detected: string | null;
  /** Behind "the upload was rejected: ". */
  why: string;
  data: Record<string, unknown>;
}

export const mismatchRefusal = (file: FileRow, { detected }: TypeVerdict): Refusal => ({
  detected,
  why: `its content is ${detected ?? "of an unknown format"}`,
  data: describeMismatch(file, detected),
});

/**
 * Ends an upload whose bytes the route does not take: FAILED, quota and the grant's place released, bytes removed. False if
 * it has ended.
 */
export async function refuseContent(
  deps: Deps,
  file: FileRow,
  refusal: Refusal,
  grantId: string | null = null,
): Promise<boolean> {
  const { detected, why, data } = refusal;
  const now = deps.now();
  const deletion = await deps.db.transact(async (tx) => {
    if ((await tx.run(markRefused, { id: file.id, detectedType: detected, now })) === 0) return null;
    if (grantId !== null) await tx.run(giveRefusedPlaceBack, { id: grantId });
    return failUpload(tx, now, file, {
      message: `Upload of "${file.name}" was rejected: ${why}.`,
      data,
    });
  }, laneOf(file));
  if (deletion === null) return false;
  await removeBytes(deps, [deletion]);
  return true;
}

export const describeMismatch = (file: FileRow, detectedType: string | null) => ({
  reason: "content-mismatch",
  declaredType: file.type,
  detectedType,
});

/** Components show these messages to people who upload, and who never declared a type. */
export function contentMismatch(file: FileRow, { detected, problem }: TypeVerdict): AppError {
  const declared = mediaType(file.type);
  const message =
    detected === null
      ? `The file's content is not ${declared}.`
      : problem === "not-allowed"
        ? `The file's content is ${detected}, which the file route "${file.route_slug}" does not accept.`
        : `The file's content is ${detected}, not ${declared}.`;
  return new AppError("CONTENT_MISMATCH", message, {
    suggestion: "Nothing was stored. Upload the file with its real type, to a route that accepts it.",
  });
}

/** For all reads of one file. */
const readWithinMs = 20_000;

async function withinTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(readWithinMs);
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new StorageUnavailable("the storage took too long to return a file", { cause: error });
  }
}

/** A stretch of an object's bytes; null if they are no longer those that were finalised. */
export async function readStretch(
  store: ObjectStore,
  key: string,
  etag: string,
  { start, length }: ByteStretch,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  if (length === 0) return Buffer.alloc(0);
  const source = await store.read(key, { range: { start, end: start + length - 1 }, etag, signal });
  if (source === null || Buffer.isBuffer(source)) return source;
  const chunks: Buffer[] = [];
  let sum = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    // The store may recycle the memory of a chunk.
    chunks.push(Buffer.from(chunk));
    sum += chunk.length;
    if (sum > length) break;
  }
  if (sum !== length) throw new StorageUnavailable("the storage sent a different length than requested");
  return Buffer.concat(chunks);
}
