import { hash } from "node:crypto";

/** A bucket at an endpoint, and how an object in it is addressed. */
export interface Location {
  /** Scheme, host and port. */
  origin: string;
  /** The Host header, which is part of every signature. */
  host: string;
  /** Encoded, with a slash in front; without a key that of the bucket. */
  pathOf(key?: string): string;
}

export interface BucketAddress {
  bucket: string;
  /** Null: Amazon's own, of the region. */
  endpoint: string | null;
  region: string;
  forcePathStyle: boolean;
}

export function createLocation({ bucket, endpoint, region, forcePathStyle }: BucketAddress): Location {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  // Amazon's certificate does not cover a bucket whose name has dots.
  const isPathStyle = forcePathStyle || bucket.includes(".");
  const host = isPathStyle ? url.host : `${bucket}.${url.host}`;
  const base = url.pathname.replace(/\/+$/, "") + (isPathStyle ? `/${encodePath(bucket)}` : "");
  return {
    origin: `${url.protocol}//${host}`,
    host,
    pathOf: (key) => (key === undefined ? base || "/" : `${base}/${encodePath(key)}`),
  };
}

/** Where things lie in the bucket. Everything is below the installation's prefix, and nothing else is touched. */
export interface ObjectNames {
  /** As in the address of a file, so that a CDN can stand right in front of the bucket. */
  finalOf(key: string): string;
  finalPrefix: string;
  /** A client may write here as long as its URL is valid, so nobody is ever served from here. */
  stagedOf(key: string): string;
  stagedPrefix: string;
  probePrefix: string;
}

export function createObjectNames(prefix: string): ObjectNames {
  const [finalPrefix, stagedPrefix, probePrefix] = [`${prefix}f/`, `${prefix}staging/`, `${prefix}probe/`];
  return {
    finalOf: (key) => finalPrefix + key,
    finalPrefix,
    // Of one length, without a character that a client or a proxy could change on the way.
    stagedOf: (key) => stagedPrefix + hash("sha256", key),
    stagedPrefix,
    probePrefix,
  };
}

/** Most of what is encoded has nothing to encode, and looking costs a fraction of encoding. */
const unreserved = /^[\w.~-]*$/;

/** RFC 3986: everything but the unreserved characters, which is what signatures are made over. */
export function encodeUri(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, percentEncode);
}

/** An object's path: the slashes stay, even doubled ones and those at the ends. */
export function encodePath(key: string): string {
  return key.split("/").map(encodeUri).join("/");
}

/** Sorted by name, as signatures want it. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeUri(name)}=${encodeUri(value)}`)
    .sort()
    .join("&");
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
