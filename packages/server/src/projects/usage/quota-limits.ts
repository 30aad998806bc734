import {
  type Environment,
  SANDBOX_OPEN_UPLOADS_MAX,
  sandboxStorageBytes,
  TIERS,
  type TierName,
} from "@upstow/contract";
import { AppError, raiseTier, unauthorized } from "../../kernel/errors.ts";

export interface QuotaLimits {
  storageBytes: number;
  uploads: number;
  /** At the same time. Where a quota limits uploads, it limits these too. */
  openUploads: number;
  /** For all projects of the account together; null if no total is needed. */
  account: { storageBytes: number; uploads: number } | null;
}

export const unlimited = Number.MAX_SAFE_INTEGER;

/**
 * What blocks an upload. A single-request upload is blocked only on the free tier, a multipart one wherever the tier
 * has a limit; the sandbox has its own cap. Otherwise the overage is counted and allowed.
 */
export function quotaLimits(environment: Environment, tier: TierName, isMultipart: boolean): QuotaLimits {
  const { storageBytes, uploadsPerMonth, projects } = TIERS[tier];
  if (environment === "test")
    return {
      ...withCeiling(sandboxStorageBytes(tier), null, projects),
      openUploads: SANDBOX_OPEN_UPLOADS_MAX,
    };
  if (tier !== "free" && !isMultipart) return withCeiling(null, null, null);
  return withCeiling(storageBytes, uploadsPerMonth, projects);
}

/** Whether a reservation of this many bytes can be refused. */
export function isLimited(limits: QuotaLimits, bytes: number): boolean {
  const { account, uploads, openUploads } = limits;
  return (
    account !== null ||
    [storageLimit(limits, bytes), uploads, openUploads].some((limit) => limit !== unlimited)
  );
}

/** A file that takes no storage is not blocked by a quota that is used up. */
export function storageLimit({ storageBytes }: QuotaLimits, bytes: number): number {
  return bytes === 0 ? unlimited : storageBytes;
}

/** An account gets what its maximum number of projects would get, so deleting and recreating gains nothing. */
function withCeiling(
  storageBytes: number | null,
  uploads: number | null,
  projects: number | null,
): QuotaLimits {
  const times = (limit: number | null) => (limit === null ? unlimited : limit * (projects ?? 1));
  const isLimited = projects !== null && (storageBytes !== null || uploads !== null);
  return {
    storageBytes: storageBytes ?? unlimited,
    uploads: uploads ?? unlimited,
    openUploads: unlimited,
    account: isLimited ? { storageBytes: times(storageBytes), uploads: times(uploads) } : null,
  };
}

/** Completed and open uploads, of a project or of all projects of an account. */
export interface Use {
  storedBytes: number;
  reservedBytes: number;
  uploads: number;
  reservedUploads: number;
}

const openHelp =
  "Complete or delete open uploads; unused ones are released 20 minutes after the request (65 for multipart). ";
const purgeHelp = `Delete files or purge deleted projects (dashboard, 'upstow project purge'), or ${raiseTier}.`;

export function storageReached(environment: Environment, use: Use, limit: number): AppError {
  const what = environment === "test" ? "sandbox" : "storage quota";
  const help =
    environment === "test"
      ? "Delete test files you no longer need, also from the trash."
      : `Delete files you no longer need, also from the trash, or ${raiseTier}.`;
  return reached(`The ${what} of this project is full: ${bytesOf(use)} of ${format(limit)}.`, {
    isOpen: use.reservedBytes > 0,
    help,
  });
}

export function uploadsReached(use: Use, { uploads, openUploads }: QuotaLimits): AppError {
  if (uploads === unlimited)
    return reached(
      `The sandbox of this project has too many open uploads: ${format(use.reservedUploads)} of ${format(openUploads)}.`,
      { isOpen: true, help: "Use a live key for uploads that are not tests." },
    );
  return reached(
    `The monthly upload quota of this project is reached: ${uploadsOf(use)} of ${format(uploads)}.`,
    { isOpen: use.reservedUploads > 0, help: `Wait for the next month, or ${raiseTier}.` },
  );
}

/** Throws if all projects of the account together have no room for more. `use` is what they had before. */
export function checkCeiling(
  use: Use & { isOpen: number },
  more: { bytes: number; count: number },
  limits: NonNullable<QuotaLimits["account"]>,
): void {
  // Deleted since the key was checked, so its usage would count for no one.
  if (use.isOpen === 0) throw unauthorized("the key is revoked or unknown");
  const everywhere = "of the account is reached by all its projects together, deleted ones included";
  // A file that takes no storage is not blocked by an account that is over its limit.
  if (more.bytes > 0 && use.storedBytes + use.reservedBytes + more.bytes > limits.storageBytes)
    throw reached(`The storage ceiling ${everywhere}: ${bytesOf(use)} of ${format(limits.storageBytes)}.`, {
      isOpen: use.reservedBytes > 0,
      help: purgeHelp,
    });
  if (use.uploads + use.reservedUploads + more.count > limits.uploads)
    throw reached(
      `The monthly upload ceiling ${everywhere}: ${uploadsOf(use)} of ${format(limits.uploads)}.`,
      {
        isOpen: use.reservedUploads > 0,
        help: `Wait for the next month, or ${raiseTier}; deleting projects frees no uploads.`,
      },
    );
}

function reached(message: string, { isOpen, help }: { isOpen: boolean; help: string }): AppError {
  return new AppError("TIER_LIMIT_EXCEEDED", message, { suggestion: `${isOpen ? openHelp : ""}${help}` });
}

const format = (number: number) => number.toLocaleString("en");
const bytesOf = (use: Use) =>
  `${format(use.storedBytes)} bytes stored and ${format(use.reservedBytes)} bytes reserved by open uploads`;
const uploadsOf = (use: Use) =>
  `${format(use.uploads)} completed and ${format(use.reservedUploads)} open uploads`;
