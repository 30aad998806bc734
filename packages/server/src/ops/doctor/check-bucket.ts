import { type Check, createChecks } from "./check.ts";

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

const { ok, warning, failed } = createChecks("bucket");
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
    return [failed(`${bucket.name} cannot be used: ${found.unusable}.`, fix), ...time];
  }
  const rights = found.refused.map(({ act, reason }) => {
    const judge = optionalActs.includes(act) ? warning : failed;
    return judge(`The service may not ${act} in ${bucket.name}: ${reason}.`, rightsPage);
  });
  const canWrite = !found.refused.some(({ act }) => act === "write");
  const browsers = canWrite ? [await checkBrowsers(bucket, options.mend)] : [];
  const well = rights.length > 0 ? rights : [ok(`${bucket.name} can be written, read, copied and deleted`)];
  return [...well, ...checkGuard(found.guardsCopies), ...time, ...browsers];
}

function checkGuard(guardsCopies: boolean | null): Check[] {
  if (guardsCopies !== false) return [];
  const fix =
    'Nothing for one instance. With several, read "Stores without conditional copies" in docs/s3.md.';
  return [warning("The store does not keep a copy from replacing an object.", fix)];
}

function checkTime(aheadMs: number | null): Check[] {
  if (aheadMs === null) return [];
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(0);
  const message = `The store's clock and this machine's are ${seconds} s apart.`;
  const fix = "Let both keep their time by NTP (timedatectl set-ntp true).";
  if (Math.abs(aheadMs) > harmfulMs) return [clock.failed(message, fix)];
  return [Math.abs(aheadMs) > noticeableMs ? clock.warning(message, fix) : clock.ok("as this machine's")];
}

async function checkBrowsers(bucket: Bucket, mend: boolean): Promise<Check> {
  const well = cors.ok("pages may upload, and see the ETag of what they sent");
  try {
    if (await bucket.allowsBrowsers()) return well;
    if (!mend) {
      return cors.warning(
        "Pages may not upload to the bucket, or do not see the ETag.",
        "Run `upstow doctor --fix` to add the rule, or set it as docs/s3.md says.",
      );
    }
    await bucket.allowBrowsers();
    if (await bucket.allowsBrowsers()) return cors.ok("the rule that lets pages upload was added");
    return cors.warning("The rule was added, but pages may not upload yet.", "Look again in a minute.");
  } catch (error) {
    const reason = (error as Error).message;
    const fix = "Set the rule where the provider keeps it, as docs/s3.md says.";
    return cors.warning(`Whether pages may upload was not found out or mended: ${reason}.`, fix);
  }
}
