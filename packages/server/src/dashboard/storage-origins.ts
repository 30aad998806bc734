import type { Deps } from "../deps.ts";
import { findSafeOrigin } from "../projects/customer-storage/rules.ts";
import { listAccessibleStores } from "./queries.ts";

const anyUpload = { key: "a", contentType: "text/plain", sizeBytes: 1, expiresInSec: 1 };

/** Where browsers send files that go to buckets of the account's projects. */
export async function findStorageOrigins(
  { db, stores, log }: Pick<Deps, "db" | "stores" | "log">,
  accountId: string,
): Promise<string[]> {
  const rows = await db.all(listAccessibleStores, { accountId });
  const origins = rows.map(async ({ id }) => {
    try {
      // Rows may be older than the check of endpoints.
      return findSafeOrigin(await (await stores.get(id)).presignPut(anyUpload));
    } catch (error) {
      // Such as credentials that no secret opens any more. The pages are of use without that bucket.
      log.warn({ err: error, store: id }, "the address of a bucket could not be found out");
      return null;
    }
  });
  const found = (await Promise.all(origins)).filter((origin) => origin !== null);
  return [...new Set(found)].toSorted();
}

export function originOf(address: string): string {
  return new URL(address).origin;
}
