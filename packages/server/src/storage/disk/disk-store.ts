import { readFile, unlink, writeFile } from "node:fs/promises";
import { PUT_TAKEOVER_SEC, TRANSFER_IDLE_SEC, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import type { Database } from "../../db/database.ts";
import { randomText } from "../../kernel/ids.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { type LocalFiles, type ObjectStore, StorageUnavailable } from "../object-store.ts";
import { createDiskAppends } from "./appends.ts";
import { type BlobFiles, openBlobFiles } from "./blob-files.ts";
import { createBlobCache, createBlobReader } from "./blob-reader.ts";
import { createBlobWriter } from "./blob-writer.ts";
import { createRateWatch } from "./body-writer.ts";
import { createDamageReport, type Damage } from "./damage.ts";
import { type Arrival, createArrivals, createFreeSpace } from "./free-space.ts";
import { checkIdentity } from "./identity.ts";
import { createDiskInspect, createDiskInventory } from "./inspect.ts";
import { createDiskMultipart, finishUpload } from "./multipart.ts";
import { buryObject, etagOf, findArrival, keepFinal, renameObject } from "./object-records.ts";
import { openUpload } from "./part-records.ts";
import { createUploadTokens, createUrlSigner, longestUrlSec } from "./presigned-url.ts";
import { createDiskReads } from "./reads.ts";
import { type ScrubOptions, type ScrubReport, scrub } from "./scrub.ts";
import { largestRowBytes } from "./small-blobs.ts";
import { createStagedUploads } from "./staged-uploads.ts";
import { type DiskSweepOptions, type DiskSweepReport, sweepDisk } from "./sweep.ts";
import { createUploadReceiver, type UploadReceiver, uploadPath } from "./upload-receiver.ts";

export interface DiskStoreOptions {
  /** The store's own directory, for one process at a time: see `lockDataDir`. */
  root: string;
  db: Database;
  keyring: Keyring;
  /** This server's URL for clients, without a trailing slash; known only once it listens. */
  publicUrl: () => string;
  /** Epoch milliseconds. */
  now: () => number;
  /** Called for damaged bytes, which someone should look into. */
  onDamage: (damage: Damage) => void;
  minFreeBytes?: number;
  /** The window over which a body has to keep the minimum rate. */
  idleMs?: number;
  /** How long a body has to stall before a newer one for the same URL may replace it. */
  takeOverAfterMs?: number;
  /** Called for each body that is aborted because it arrives too slowly. */
  onSlowBody?: () => void;
  /** Larger bodies become files. */
  largestRowBytes?: number;
}

/** The embedded store: blobs in files, small ones in the database, along with all records. */
export interface DiskStore extends ObjectStore, UploadReceiver {
  readonly localFiles: LocalFiles;
  /** Removes unreferenced blobs, and reports missing ones. */
  sweep(options: DiskSweepOptions): Promise<DiskSweepReport>;
  /** Reads the next blobs again and marks the damaged ones. */
  scrub(options: ScrubOptions): Promise<ScrubReport>;
}

const defaultFloorBytes = 64 * 1024 * 1024;
const cacheBytes = 32 * 1024 * 1024;

export async function openDiskStore(options: DiskStoreOptions): Promise<DiskStore> {
  const { db, now } = options;
  const files = await openBlobFiles(options.root, now);
  await checkIdentity(db, files);
  const space = createFreeSpace(files.root, options.minFreeBytes ?? defaultFloorBytes);
  const mostRowBytes = options.largestRowBytes ?? largestRowBytes;
  const windowMs = options.idleMs ?? TRANSFER_IDLE_SEC * 1000;
  const rate = createRateWatch({ bytesPerSec: TRANSFER_MIN_BYTES_PER_SEC, windowMs }, options.onSlowBody);
  const arrivals = createArrivals(options.takeOverAfterMs ?? PUT_TAKEOVER_SEC * 1000);
  const writer = createBlobWriter(files, space, rate, { now, largestRowBytes: mostRowBytes });
  const tokens = createUploadTokens(options.keyring.keysFor("presigned upload"));
  const signUrl = createUrlSigner(tokens, () => options.publicUrl() + uploadPath, now);
  const uploads = createStagedUploads(db, files, space, now);
  const report = createDamageReport(db, files, options.onDamage);
  const urlLifeMs = longestUrlSec * 1000;

  return {
    name: "disk",
    ...createUploadReceiver(tokens, arrivals, uploads, writer, now),
    ...createDiskMultipart(db, files, signUrl, now),
    ...createDiskReads(db, files, createBlobReader(db, files, createBlobCache(cacheBytes), report), report),

    async presignPut({ key, contentType, sizeBytes, expiresInSec }) {
      return signUrl({ kind: "single", key, contentType, sizeBytes }, expiresInSec);
    },
    async putPart({ uploadId, partNumber, bytes }) {
      const target = {
        kind: "part",
        uploadId,
        partNumber,
        maxBytes: bytes.byteLength,
        expiresAt: 0,
      } as const;
      return uploads.stage(target, arrivalOf(bytes), () => writer.writeBytes(bytes, "part"));
    },
    finishPut: (key) => db.transact((tx) => uploads.finish(tx, key)),
    findReceived: (key) => findArrival(db, key),
    withinTransaction: {
      startMultipart: openUpload,
      finishPut: uploads.finish,
      finishMultipart: (tx, upload) => finishUpload(tx, upload, now()),
      rename: (tx, fromKey, toKey) => renameObject(tx, { fromKey, toKey, now: now() }),
    },
    arrivals: uploads,
    appends: createDiskAppends(db, files, writer, space, now),
    ...createDiskInspect({ db, files, report }),
    inventory: createDiskInventory({ db, files }),

    async write(key, bytes) {
      const expected = { sizeBytes: bytes.byteLength, receivedBytes: 0 };
      await space.admit(expected);
      try {
        const sealed = await writer.writeBytes(bytes);
        try {
          await files.remove(await db.transact((tx) => keepFinal(tx, key, sealed, now())));
        } finally {
          files.release(sealed.blob);
        }
        return { sizeBytes: sealed.sizeBytes, etag: etagOf(sealed.sha256), sha256: sealed.sha256 };
      } finally {
        space.release(expected);
      }
    },

    async delete(keys) {
      // In the same order everywhere, so that two deletions cannot deadlock.
      const sorted = [...new Set(keys)].sort();
      const unused = await db.transact(async (tx) => {
        const blobs: string[] = [];
        for (const key of sorted) blobs.push(...(await buryObject(tx, key, now())));
        return blobs;
      });
      await files.remove(unused);
      return [];
    },

    sweep: (sweepOptions) =>
      sweepDisk({ db, files, urlLifeMs, isArriving: uploads.isArriving }, sweepOptions),
    scrub: (scrubOptions) => scrub({ db, files, report }, scrubOptions),
    check: () => probe(files),
    close: async () => {},
  };
}

/** Of bytes that are in memory, so no newer body can take their place. */
function arrivalOf({ byteLength }: Uint8Array): Arrival {
  return { sizeBytes: byteLength, receivedBytes: 0, heldUp: false, movedAt: 0, stop: null, leave() {} };
}

async function probe(files: BlobFiles): Promise<void> {
  const path = files.tempPath(`probe-${randomText(16)}`);
  try {
    await writeFile(path, "probe", { flag: "wx", mode: 0o600 });
    const found = await readFile(path, "utf8");
    await unlink(path);
    if (found !== "probe") throw new Error("the bytes read are not the bytes written");
  } catch (error) {
    throw new StorageUnavailable(`the object directory ${files.root} cannot be used`, { cause: error });
  }
}
