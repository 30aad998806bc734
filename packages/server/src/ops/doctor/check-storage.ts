import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { countDamagedFiles } from "../verify/check-files.ts";
import { type Check, createChecks } from "./check.ts";

/** A blob's path relative to the object directory; null for a small one, which is in the database. */
export type BlobPath = (blob: string) => string | null;

const storage = createChecks("storage");

const findIdentity = statement((q, _: object) => q.selectFrom("disk_store").select("identity"));
const listNewestBlobs = statement((q, _: object) =>
  q
    .selectFrom("disk_object")
    .select(["blob", "size_bytes"])
    .where("blob", "is not", null)
    .where("damaged", "=", 0)
    .orderBy("blob", "desc")
    .limit(100),
);
// bounded: an index of damaged objects alone
const countDamaged = statement((q, _: object) =>
  q
    .selectFrom("disk_object")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("damaged", "=", 1),
);

export async function checkStorage(db: Database, config: Config, blobPath: BlobPath): Promise<Check[]> {
  return [...(await checkDirectory(db, config, blobPath)), ...(await checkDamage(db))];
}

async function checkDamage(db: Database): Promise<Check[]> {
  const damaged = (await db.get(countDamagedFiles, {}))?.count ?? 0;
  if (damaged === 0) return [];
  return [
    storage.warning(
      `The last check of stored files found ${damaged} damaged files.`,
      "List them with `upstow verify`; see docs/verify.md for how to repair them.",
    ),
  ];
}

async function checkDirectory(db: Database, config: Config, blobPath: BlobPath): Promise<Check[]> {
  const identity = (await db.get(findIdentity, {}))?.identity ?? null;
  if (identity === null) return [];
  const root = join(config.dataDir, "objects");
  const onDisk = await readFile(join(root, "identity"), "utf8").catch(() => null);
  if (onDisk !== identity) {
    return [
      storage.failed(
        onDisk === null ? `${root} is missing or empty.` : `${root} belongs to another database.`,
        "Mount the disk with the objects, or restore database and objects together from one backup.",
      ),
    ];
  }
  // A restored directory has none until the next start.
  const hasTemporary = (await stat(join(root, "tmp")).catch(() => null)) !== null;
  const isWritable = await access(hasTemporary ? join(root, "tmp") : root, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return [storage.failed(`${root} is not writable.`, "Run as the user that runs the service.")];
  return checkBlobs(db, root, blobPath);
}

async function checkBlobs(db: Database, root: string, blobPath: BlobPath): Promise<Check[]> {
  const newest = await db.all(listNewestBlobs, {});
  const isThere = await Promise.all(
    newest.map(async ({ blob, size_bytes: sizeBytes }) => {
      const path = blobPath(blob ?? "");
      if (path === null) return true;
      const found = await stat(join(root, path)).catch(() => null);
      return found?.size === sizeBytes;
    }),
  );
  const lost = isThere.filter((there) => !there).length;
  const checks: Check[] = [];
  if (lost > 0) {
    checks.push(
      storage.failed(
        `${lost} of the newest ${newest.length} objects are missing their bytes.`,
        "Restore the last backup.",
      ),
    );
  }
  const damaged = (await db.get(countDamaged, {}))?.count ?? 0;
  if (damaged > 0) {
    checks.push(
      storage.warning(
        `${damaged} objects are damaged and not served.`,
        "Check the disk; upload them again or restore a backup.",
      ),
    );
  }
  return checks.length > 0 ? checks : [storage.ok(`${root} belongs to this database and is writable`)];
}

/** A bucket as seen by the doctor. */
export interface Bucket {
  name: string;
  examine(): Promise<{
    unusable: string | null;
    clockAheadMs: number | null;
    refused: { act: string; reason: string }[];
    guardsCopies: boolean | null;
  }>;
  /** Whether pages on other origins may upload and read the etag. */
  allowsBrowsers(): Promise<boolean>;
  allowBrowsers(): Promise<void>;
}

const ofBucket = createChecks("bucket");
const clock = createChecks("bucket's clock");
const cors = createChecks("bucket's CORS");

const noticeableMs = 5_000;
/** S3 rejects signatures that are off by more than 15 minutes; latency may use up part of that. */
const harmfulMs = 10 * 60_000;
/** Files work without it; only remains of abandoned uploads are not cleaned up. */
const optionalActs = ["list"];
const rightsPage = 'Grant what docs/s3.md lists under "Rights".';

export async function checkBucket(bucket: Bucket, options: { mend: boolean }): Promise<Check[]> {
  const found = await bucket.examine();
  const time = checkTime(found.clockAheadMs);
  if (found.unusable !== null) {
    const fix = "Check UPSTOW_S3_ENDPOINT, UPSTOW_S3_REGION, UPSTOW_S3_BUCKET, and that the bucket exists.";
    return [ofBucket.failed(`${bucket.name} cannot be used: ${found.unusable}.`, fix), ...time];
  }
  const rights = found.refused.map(({ act, reason }) => {
    const judge = optionalActs.includes(act) ? ofBucket.warning : ofBucket.failed;
    return judge(`The service is not allowed to ${act} in ${bucket.name}: ${reason}.`, rightsPage);
  });
  const canWrite = !found.refused.some(({ act }) => act === "write");
  const browsers = canWrite ? [await checkBrowsers(bucket, options.mend)] : [];
  const well =
    rights.length > 0 ? rights : [ofBucket.ok(`${bucket.name} can be written, read, copied and deleted`)];
  return [...well, ...checkGuard(found.guardsCopies), ...time, ...browsers];
}

function checkGuard(guardsCopies: boolean | null): Check[] {
  if (guardsCopies !== false) return [];
  const fix =
    'With one instance, nothing. With several, see "Stores without conditional copies" in docs/s3.md.';
  return [ofBucket.warning("The store does not prevent a copy from replacing an object.", fix)];
}

function checkTime(aheadMs: number | null): Check[] {
  if (aheadMs === null) return [];
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(0);
  const message = `The store's clock and this machine's are ${seconds} s apart.`;
  const fix = "Synchronize both clocks with NTP (timedatectl set-ntp true).";
  if (Math.abs(aheadMs) > harmfulMs) return [clock.failed(message, fix)];
  return [
    Math.abs(aheadMs) > noticeableMs ? clock.warning(message, fix) : clock.ok("same as this machine's"),
  ];
}

async function checkBrowsers(bucket: Bucket, mend: boolean): Promise<Check> {
  const well = cors.ok("browsers may upload, and can read the ETag");
  try {
    if (await bucket.allowsBrowsers()) return well;
    if (!mend) {
      return cors.warning(
        "Browsers may not upload to the bucket, or can't read the ETag.",
        "Run `upstow doctor --fix` to add the rule, or set it as described in docs/s3.md.",
      );
    }
    await bucket.allowBrowsers();
    if (await bucket.allowsBrowsers()) return cors.ok("added the rule that lets browsers upload");
    return cors.warning("The rule was added, but browsers may not upload yet.", "Check again in a minute.");
  } catch (error) {
    const reason = (error as Error).message;
    const fix = "Set the rule at your provider, as described in docs/s3.md.";
    return cors.warning(`Could not check or fix whether browsers may upload: ${reason}.`, fix);
  }
}
