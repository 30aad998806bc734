import { PART_SIZE_BYTES } from "@upstow/contract";
import type { ClaimedPart, MultipartRef, ObjectStore } from "../../storage/object-store.ts";

export interface Receiving {
  store: ObjectStore;
  upload: MultipartRef;
  /** Full parts that have arrived before. */
  received: readonly ClaimedPart[];
  chunks: AsyncIterable<Buffer>;
  limitBytes: number;
  /** Called with the size so far before anything of it is stored. */
  reserve(sizeBytes: number): Promise<void>;
  onStored(sizeBytes: number): void;
}

export class TooManyBytes extends Error {
  override readonly name = "TooManyBytes";
}

/**
 * Stores a body of unknown size in parts, one after another. Every part but the last is full, so how far it got can be
 * read from the store; the memory it needs is that of one part.
 */
export async function receiveParts({
  store,
  upload,
  received,
  chunks,
  limitBytes,
  reserve,
  onStored,
}: Receiving): Promise<{ parts: ClaimedPart[]; sizeBytes: number }> {
  const parts = [...received];
  let sizeBytes = parts.length * PART_SIZE_BYTES;
  let filled = 0;
  const part = Buffer.allocUnsafeSlow(PART_SIZE_BYTES);

  async function storePart(): Promise<void> {
    await reserve(sizeBytes);
    const partNumber = parts.length + 1;
    const { etag } = await store.putPart({ ...upload, partNumber, bytes: part.subarray(0, filled) });
    parts.push({ partNumber, etag });
    filled = 0;
    onStored(sizeBytes);
  }

  for await (const chunk of chunks) {
    if (sizeBytes + chunk.length > limitBytes) throw new TooManyBytes();
    for (let rest = chunk; rest.length > 0; ) {
      const copied = rest.copy(part, filled);
      filled += copied;
      sizeBytes += copied;
      rest = rest.subarray(copied);
      if (filled === part.length) await storePart();
    }
  }
  // A file without bytes has one part as well, because buckets assemble at least one.
  if (filled > 0 || parts.length === 0) await storePart();
  return { parts, sizeBytes };
}
