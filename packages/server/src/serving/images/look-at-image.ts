import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { type ImageTypes, isImageType } from "../../files/image-facts.ts";
import { AppError } from "../../kernel/errors.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";
import { type ByteRange, StorageUnavailable } from "../../storage/object-store.ts";
import { objectOfFile, readObject } from "../stored-bytes.ts";
import { examineHeader, type HeaderVerdict } from "./header/examine-header.ts";
import { listKinds } from "./render/tools/recipes.ts";

type LookedAt = Pick<
  FileRow,
  "id" | "key" | "stored_apart" | "etag" | "store_etag" | "sha256" | "upload_id" | "size_bytes"
>;
type LookDeps = Pick<Deps, "db" | "store" | "onDamagedRead" | "tools">;

/** Throws the caller's error if a stored file is not an image that can be transformed. */
export type LookAtImage = (file: LookedAt) => Promise<void>;

const mostRemembered = 10_000;
/** For all reads of one check. */
const lookWithinMs = 10_000;

export function createLookAtImage(deps: LookDeps, withinMs = lookWithinMs): LookAtImage {
  const verdicts = createShortMemory<HeaderVerdict>(mostRemembered);
  return async (file) => {
    const version = `${file.id} ${file.etag}`;
    let verdict = verdicts.find(version);
    if (verdict === undefined) {
      verdict = await examine(deps, file, withinMs);
      verdicts.remember(version, verdict);
    }
    if (verdict === "unsupported") throw unsupportedType();
    if (verdict === "too-large") throw tooManyPixels();
  };
}

async function examine(deps: LookDeps, file: LookedAt, withinMs: number): Promise<HeaderVerdict> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), withinMs);
  try {
    return await examineHeader(
      (start, length) => read(deps, file, { start, end: start + length - 1 }, late.signal),
      file.size_bytes,
      listKinds(deps.tools),
    );
  } catch (error) {
    if (!late.signal.aborted) throw error;
    throw new StorageUnavailable("the storage took too long to return an image", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Exactly this many bytes, whatever a store sends. */
async function read(deps: LookDeps, file: LookedAt, range: ByteRange, signal: AbortSignal): Promise<Buffer> {
  const reading = { fileId: file.id, object: objectOfFile(file), isPublicRead: false };
  const source = await readObject(deps, reading, deps.store, { range, signal });
  const length = range.end - range.start + 1;
  const bytes = Buffer.isBuffer(source) ? source : await collect(source, length);
  if (bytes.length !== length)
    throw new StorageUnavailable("the storage sent a different length than requested");
  return bytes;
}

async function collect(source: AsyncIterable<Buffer>, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sum = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    sum += chunk.length;
    if (sum > length) break;
  }
  return Buffer.concat(chunks);
}

function tooManyPixels(): AppError {
  return new AppError(
    "UNSUPPORTED_TRANSFORM_TYPE",
    "The image is larger than 50 megapixels, counting all frames, and cannot be transformed.",
    { suggestion: "Upload a version of the image with fewer pixels." },
  );
}

export function checkIsImage(contentType: string, imageTypes: ImageTypes): void {
  if (!isImageType(contentType, imageTypes)) throw unsupportedType();
}

export function unsupportedType(): AppError {
  return new AppError("UNSUPPORTED_TRANSFORM_TYPE", "This file is not an image that can be transformed.", {
    suggestion:
      "Supported are JPEG, PNG, WebP, GIF and AVIF, and HEIC, PDF and video if the installation has the programs for them.",
  });
}
