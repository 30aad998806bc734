import type { Database } from "../../db/database.ts";
import type { DamageReason } from "../../db/schema.ts";
import { StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { markBlob } from "./blob-records.ts";

export interface Damage {
  key: string;
  blob: string;
  reason: Exclude<DamageReason, "wrong-etag">;
}

/** A blob that does not match its record. */
export class BlobDamaged extends Error {
  override readonly name = "BlobDamaged";
  readonly blob: string;
  readonly reason: Damage["reason"];
  constructor(blob: string, reason: Damage["reason"], options?: ErrorOptions) {
    super(`blob ${blob} is damaged: ${reason}`, options);
    this.blob = blob;
    this.reason = reason;
  }
}

/** Marks damaged blobs, so that they are never served again, and notifies the operator. */
export function createDamageReport(db: Database, files: BlobFiles, onDamage: (damage: Damage) => void) {
  /** Null if the blob was just being deleted. */
  return async ({ blob, reason }: BlobDamaged): Promise<Damage | null> => {
    if (reason === "missing" && !(await files.isMounted())) {
      throw new StorageUnavailable(`the directory ${files.root} is missing; is its disk mounted?`);
    }
    const key = await markBlob(db, blob, 1);
    if (key === null) return null;
    const damage = { key, blob, reason };
    onDamage(damage);
    return damage;
  };
}

export type ReportDamage = ReturnType<typeof createDamageReport>;

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | null)?.code));
}

/** Translates file system errors into the store's errors. Other errors are passed through. */
export function explainDiskError(error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  if (hasCode(error, "ENOSPC", "EDQUOT"))
    return new StorageFull("the disk that holds the objects is full", { cause: error });
  return new StorageUnavailable(
    `the disk that holds the objects does not work (${String((error as { code?: unknown }).code)})`,
    {
      cause: error,
    },
  );
}
