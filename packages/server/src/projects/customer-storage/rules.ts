import { invalid } from "../../kernel/errors.ts";
import type { BucketCredentials, BucketPlace } from "./customer-stores.ts";

export interface StorageInput extends BucketCredentials {
  endpoint?: string | null;
  region?: string;
  bucket: string;
  prefix?: string;
  forcePathStyle?: boolean;
}

// Region and bucket become part of a host name, so nothing may end it or start another.
const regionPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
const bucketPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
const prefixPattern = /^(?:[\w-][\w.-]*\/){0,10}$/;
const mostPrefix = 100;
// Signed values are sent in a header.
const credentialPattern = /^[\x21-\x7e]{1,256}$/;

/** Only names and addresses: `;`, `,` or `*` in a host would end or widen the dashboard's policy. */
const safeOrigin = /^https?:\/\/(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** Null if it cannot be used in a Content-Security-Policy. */
export function findSafeOrigin(address: string): string | null {
  const { origin } = new URL(address);
  return safeOrigin.test(origin) ? origin : null;
}

/** The validated place with defaults; the endpoint's address is checked elsewhere. */
export function checkPlace(input: StorageInput): BucketPlace {
  const endpoint = input.endpoint?.trim() || null;
  const region = input.region?.trim() || "us-east-1";
  const given = input.prefix?.trim() ?? "upstow/";
  const prefix = given === "" || given === "/" ? "" : given.endsWith("/") ? given : `${given}/`;
  if (!regionPattern.test(region)) throw invalid("region", "must be a name such as eu-central-1 or auto");
  if (!bucketPattern.test(input.bucket)) throw invalid("bucket", "must be the name of a bucket");
  if (!prefixPattern.test(prefix) || prefix.length > mostPrefix)
    throw invalid("prefix", "must contain only letters, digits and - _ . in folders such as upstow/");
  for (const field of ["accessKeyId", "secretAccessKey"] as const)
    if (!credentialPattern.test(input[field])) throw invalid(field, "must be a key as shown by the provider");
  const place = {
    endpoint: endpoint === null ? null : checkEndpoint(endpoint),
    region,
    bucket: input.bucket,
    prefix,
    forcePathStyle: input.forcePathStyle ?? endpoint !== null,
  };
  if (!place.forcePathStyle && place.endpoint !== null) checkHostStyle(place.endpoint);
  return place;
}

function checkEndpoint(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null;
  if (url === null || url.search !== "" || url.hash !== "" || findSafeOrigin(endpoint) === null)
    throw invalid("endpoint", "must be a URL such as https://s3.example.com");
  return url.href.replace(/\/$/, "");
}

function checkHostStyle(endpoint: string): void {
  const { host } = new URL(endpoint);
  if (!URL.canParse(`https://bucket.${host}`))
    throw invalid("forcePathStyle", "must be true: a bucket's name cannot be a subdomain of an IP address");
}

export function isSamePlace(one: BucketPlace, other: BucketPlace): boolean {
  return one.endpoint === other.endpoint && one.bucket === other.bucket && one.prefix === other.prefix;
}
