export interface S3Config {
  bucket: string;
  /** Null means Amazon's own endpoint for the region. */
  endpoint: string | null;
  /** The URL that clients use for the bucket, if it differs from the service's. */
  publicEndpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
  /** Prefix of every object's name. Ends with a slash, or is empty. */
  prefix: string;
  delivery: S3Delivery;
}

/** Whether files are streamed through the service or clients are redirected to the bucket. */
export type S3Delivery = "stream" | "redirect";

/** A bucket or region becomes part of a host name. Any further rules are up to the provider. */
export function hostPart(value: string): string {
  if (/^[\w.-]{1,255}$/.test(value)) return value;
  throw new Error(`must be letters, digits and - _ . only, not "${value}"`);
}

/** Sent in a header. The message never includes the value. */
export function s3Credential(value: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new Error("must be a key as shown by the provider: ASCII characters without spaces");
}

/** Whether the bucket's name can be prepended to the host, which is impossible for an IP address. */
export function takesHostStyle(endpoint: string | null): boolean {
  return endpoint === null || URL.canParse(`https://bucket.${new URL(endpoint).host}`);
}

export function s3Delivery(value: string): S3Delivery {
  if (value === "stream" || value === "redirect") return value;
  throw new Error(`must be stream or redirect, not "${value}"`);
}

// Amazon limits names to 1,024 bytes, of which the service uses 900 and a few more for its own folders.
export function s3Prefix(value: string): string {
  if (value === "/") return "";
  const prefix = value.endsWith("/") ? value : `${value}/`;
  if (!/^(?:[\w.-]+\/){1,10}$/.test(prefix) || prefix.length > 100 || /(^|\/)\.+\//.test(prefix)) {
    throw new Error(`must be up to 100 letters, digits and - _ . in folders such as upstow/, not "${value}"`);
  }
  return prefix;
}
