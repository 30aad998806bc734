import { createHash, hash } from "node:crypto";
import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import type { BlobFiles } from "./blob-files.ts";
import { isRowName } from "./blob-name.ts";
import { type BlobRow, listBlobs, markBlob } from "./blob-records.ts";
import { BlobDamaged, type Damage, explainDiskError, hasCode, type ReportDamage } from "./damage.ts";
import { readSmallBlobs } from "./small-blobs.ts";

export interface ScrubOptions {
  /** How many blobs to read in this call. */
  maxBlobs: number;
  /** Limits disk usage; without it the scrub reads as fast as it can. */
  bytesPerSec?: number;
  signal?: AbortSignal;
}

export interface ScrubReport {
  checkedBlobs: number;
  checkedBytes: number;
  damaged: Damage[];
  /** Keys whose bytes were marked damaged and are intact again, for instance restored from a backup. */
  mended: string[];
  /** True if this call reached the newest blob; the next one starts with the oldest again. */
  passEnded: boolean;
}

const pageRows = 100;
/** Read together if they are rows, which are small. */
const blobsAtOnce = 20;
const bufferBytes = 1024 * 1024;

const findPlace = statement((q, _: object) => q.selectFrom("disk_store").select("scrubbed_up_to"));
const keepPlace = statement((q, p: { blob: string }) =>
  q.updateTable("disk_store").set({ scrubbed_up_to: p.blob }),
);

/**
 * Rereads blobs and compares their checksums. It proceeds by age and remembers its position, so the blob checked
 * longest ago is always next.
 */
export async function scrub(
  deps: { db: Database; files: BlobFiles; report: ReportDamage },
  options: ScrubOptions,
): Promise<ScrubReport> {
  const { db } = deps;
  const result: ScrubReport = { checkedBlobs: 0, checkedBytes: 0, damaged: [], mended: [], passEnded: false };
  let after = (await db.get(findPlace, {}))?.scrubbed_up_to ?? "";
  while (result.checkedBlobs < options.maxBlobs && !result.passEnded) {
    const limit = Math.min(pageRows, options.maxBlobs - result.checkedBlobs);
    const rows = await listBlobs(db, { after, before: "~", limit });
    for (let start = 0; start < rows.length; start += blobsAtOnce) {
      const some = rows.slice(start, start + blobsAtOnce);
      const small = await readSmallBlobs(db, some.map(({ blob }) => blob).filter(isRowName));
      const findRow = async (blob: string) => small.get(blob);
      for (const row of some) {
        options.signal?.throwIfAborted();
        await checkBlob({ ...deps, findRow }, row, options, result);
      }
    }
    result.passEnded = rows.length < limit;
    after = result.passEnded ? "" : (rows.at(-1)?.blob ?? "");
    await db.run(keepPlace, { blob: after });
  }
  return result;
}

async function checkBlob(
  { db, report, ...blobs }: { db: Database; report: ReportDamage } & Blobs,
  row: BlobRow,
  options: ScrubOptions,
  result: ScrubReport,
): Promise<void> {
  result.checkedBlobs++;
  try {
    result.checkedBytes += await readBlob(blobs, row, options);
  } catch (error) {
    if (!(error instanceof BlobDamaged)) throw error;
    const damage = await report(error);
    if (damage !== null) result.damaged.push(damage);
    return;
  }
  const mended = row.damaged === 1 ? await markBlob(db, row.blob, 0) : null;
  if (mended !== null) result.mended.push(mended);
}

interface Blobs {
  files: BlobFiles;
  /** The bytes of a blob that is a row. */
  findRow: (blob: string) => Promise<Buffer | undefined>;
}

/** Throws `BlobDamaged` if the bytes are not the recorded ones; returns how many there are. */
export function readBlob(
  { files, findRow }: Blobs,
  row: Omit<BlobRow, "damaged">,
  options: Omit<ScrubOptions, "maxBlobs">,
): Promise<number> {
  return isRowName(row.blob) ? readRow(findRow, row) : readThrough(files.pathOf(row.blob), row, options);
}

async function readRow(findRow: Blobs["findRow"], row: Omit<BlobRow, "damaged">): Promise<number> {
  const bytes = await findRow(row.blob);
  if (bytes === undefined) throw new BlobDamaged(row.blob, "missing");
  if (hash("sha256", bytes) !== row.sha256) throw new BlobDamaged(row.blob, "wrong-checksum");
  return bytes.length;
}

async function readThrough(
  path: string,
  row: Omit<BlobRow, "damaged">,
  { bytesPerSec, signal }: Omit<ScrubOptions, "maxBlobs">,
): Promise<number> {
  const digest = createHash("sha256");
  let sizeBytes = 0;
  try {
    await using file = await open(path, "r");
    const buffer = Buffer.allocUnsafe(Math.min(bufferBytes, row.size_bytes + 1));
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      digest.update(buffer.subarray(0, bytesRead));
      sizeBytes += bytesRead;
      if (bytesPerSec !== undefined)
        await sleep((bytesRead / bytesPerSec) * 1000, undefined, signal && { signal });
    }
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw new BlobDamaged(row.blob, "missing", { cause: error });
    if (hasCode(error, "EIO")) throw new BlobDamaged(row.blob, "unreadable", { cause: error });
    throw explainDiskError(error);
  }
  if (sizeBytes !== row.size_bytes) throw new BlobDamaged(row.blob, "wrong-size");
  if (digest.digest("hex") !== row.sha256) throw new BlobDamaged(row.blob, "wrong-checksum");
  return sizeBytes;
}
