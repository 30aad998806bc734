import type { CustomerStoreTable } from "../../db/schema.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import type { BucketCredentials, BucketPlace } from "./customer-bucket.ts";

const purpose = "customer storage";

export function sealCredentials(
  keyring: Keyring,
  { accessKeyId, secretAccessKey }: BucketCredentials,
): string {
  return keyring.encrypt(JSON.stringify({ accessKeyId, secretAccessKey }), purpose);
}

export function openCredentials(keyring: Keyring, sealed: string): BucketCredentials {
  return JSON.parse(keyring.decrypt(sealed, purpose));
}

/** Null where the first secret sealed them already, or where none opens them. */
export function resealOlderCredentials(keyring: Keyring, sealed: string): string | null {
  return keyring.reseal(sealed, purpose);
}

export function placeOf(row: CustomerStoreTable): BucketPlace {
  const { endpoint, region, bucket, prefix } = row;
  return { endpoint, region, bucket, prefix, forcePathStyle: row.force_path_style === 1 };
}
