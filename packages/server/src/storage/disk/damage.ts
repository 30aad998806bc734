import type { Database } from "../../db/database.ts";
import { StorageUnavailable } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { markBlob } from "./blob-records.ts";

export interface Damage {
  key: string;
  blob: string;
  reason: "missing" | "wrong-size" | "wrong-checksum" | "unreadable";
}

/** A blob that is not what its record says. */
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

/** Marks damaged blobs, so that they are never served again, and tells the operator. */
export function createDamageReport(db: Database, files: BlobFiles, onDamage: (damage: Damage) => void) {
  /** Null when the blob was only on its way out. */
  return async ({ blob, reason }: BlobDamaged): Promise<Damage | null> => {
    if (reason === "missing" && !(await files.isMounted())) {
      throw new StorageUnavailable(`the directory ${files.root} is not there; is its disk mounted?`);
    }
    const key = await markBlob(db, blob, 1);
    if (key === null) return null;
    const damage = { key, blob, reason };
    onDamage(damage);
    return damage;
  };
}

export type ReportDamage = ReturnType<typeof createDamageReport>;
