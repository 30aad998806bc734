import { PART_SIZE_BYTES } from "@upstow/contract";
import type { FileRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { countedBytes, periodOf } from "../../projects/usage/period.ts";
import { releaseUsage, reserveQuota } from "../../projects/usage/quota.ts";
import { quotaLimits } from "../../projects/usage/quota-limits.ts";
import type { ClaimedPart, MultipartRef, ObjectStore } from "../../storage/object-store.ts";
import { laneOf } from "./queries.ts";

export interface Receiving {
  store: ObjectStore;
  upload: MultipartRef;
  /** Full parts that have arrived before. */
  received: readonly ClaimedPart[];
  chunks: AsyncIterable<Buffer>;
  limitBytes: number;
  /** Called with the size so far before anything of it is stored. */
  reserve(sizeBytes: number): Promise<void>;
  onReceived?(sizeBytes: number): void;
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
  onReceived,
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
    onReceived?.(sizeBytes);
  }
  // A file without bytes has one part as well, because buckets assemble at least one.
  if (filled > 0 || parts.length === 0) await storePart();
  return { parts, sizeBytes };
}

interface Description {
  sizeBytes: number;
  uploadId: string;
  type: string;
}

/** The size is also what is reserved, so it changes together with the counters. */
const describeOpenFile = statement((q, p: Description & { id: string; sizeBefore: number }) =>
  q
    .updateTable("file")
    .set({ size_bytes: p.sizeBytes, upload_id: p.uploadId, type: p.type })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING")
    .where("size_bytes", "=", p.sizeBefore),
);

type Owner = Pick<Actor, "projectId" | "accountId" | "tier" | "environment">;

/**
 * Records what has become known of an open upload, and reserves or releases the difference in size. Null if the upload
 * has ended; throws if there is no room for more.
 */
export async function describeUpload(
  deps: Deps,
  owner: Owner,
  file: FileRow,
  described: Description,
): Promise<FileRow | null> {
  const { uploadId, type, sizeBytes } = described;
  if (sizeBytes === file.size_bytes && uploadId === file.upload_id && type === file.type) return file;
  const now = deps.now();
  const bytes = countedBytes(file, sizeBytes) - countedBytes(file, file.size_bytes);
  const limits = quotaLimits(owner.environment, owner.tier, false);
  return deps.db.transact(async (tx) => {
    const guard = { ...described, id: file.id, sizeBefore: file.size_bytes };
    if ((await tx.run(describeOpenFile, guard)) === 0) return null;
    if (bytes > 0) await reserveQuota(tx, owner, { bytes, period: periodOf(now), count: 0 }, limits);
    if (bytes < 0)
      await releaseUsage(tx, now, owner, {
        storedBytes: 0,
        reservedBytes: -bytes,
        uploadsByPeriod: new Map(),
      });
    return { ...file, upload_id: uploadId, type, size_bytes: sizeBytes };
  }, laneOf(file));
}
