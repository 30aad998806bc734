export interface S3Config {
  bucket: string;
  /** Null: Amazon's own, of the region. */
  endpoint: string | null;
  /** Where clients reach the bucket, if not where the service does. */
  publicEndpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
  /** In front of every object's name. Ends with a slash, or is empty. */
  prefix: string;
  delivery: S3Delivery;
}

/** Whether files are sent through the service, or clients are sent to the bucket. */
export type S3Delivery = "stream" | "redirect";

/** A bucket or a region becomes part of a host name. What else a provider allows in it is the provider's matter. */
export function hostPart(value: string): string {
  if (/^[\w.-]{1,255}$/.test(value)) return value;
  throw new Error(`must be letters, digits and - _ . only, not "${value}"`);
}

/** Goes into a header. The message never repeats the value. */
export function s3Credential(value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new Error("must be a key as the provider shows it: ASCII characters without spaces");
}

/** Whether the bucket's name can stand in front of the host, which it cannot where that is an IP address. */
export function takesHostStyle(endpoint: string | null): boolean {
  return endpoint === null || URL.canParse(`https://bucket.${new URL(endpoint).host}`);
}

export function s3Delivery(value: string): S3Delivery {
  if (value === "stream" || value === "redirect") return value;
  throw new Error(`must be stream or redirect, not "${value}"`);
}

// Amazon's limit for a name is 1,024 bytes, of which the service takes 900 and a few for its own folders.
export function s3Prefix(value: string): string {
  if (value === "/") return "";
  const prefix = value.endsWith("/") ? value : `${value}/`;
  if (!/^(?:[\w.-]+\/){1,10}$/.test(prefix) || prefix.length > 100 || /(^|\/)\.+\//.test(prefix)) {
    throw new Error(`must be up to 100 letters, digits and - _ . in folders such as upstow/, not "${value}"`);
  }
  return prefix;
}
