import { hash } from "node:crypto";
import { apartMark, isApart } from "../storage-key.ts";

/** A bucket at an endpoint, and how an object in it is addressed. */
export interface Location {
  /** Scheme, host and port. */
  origin: string;
  /** The Host header, which is part of every signature. */
  host: string;
  /** Encoded, with a leading slash; without a key, the path of the bucket. */
  pathOf(key?: string): string;
}

export interface BucketAddress {
  bucket: string;
  /** Null means Amazon's own endpoint for the region. */
  endpoint: string | null;
  region: string;
  forcePathStyle: boolean;
}

export function createLocation({ bucket, endpoint, region, forcePathStyle }: BucketAddress): Location {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  // Amazon's certificate does not cover bucket names with dots.
  const isPathStyle = forcePathStyle || bucket.includes(".");
  const host = isPathStyle ? url.host : `${bucket}.${url.host}`;
  const base = url.pathname.replace(/\/+$/, "") + (isPathStyle ? `/${encodePath(bucket)}` : "");
  return {
    origin: `${url.protocol}//${host}`,
    host,
    pathOf: (key) => (key === undefined ? base || "/" : `${base}/${encodePath(key)}`),
  };
}

/** The bucket's layout. Everything is below the installation's prefix, and nothing else is touched. */
export interface ObjectNames {
  /** As in a file's URL, so that a CDN can be placed directly in front of the bucket. */
  finalOf(key: string): string;
  /** The inverse of `finalOf`. */
  keyOf(name: string): string;
  /** Public objects. */
  finalPrefix: string;
  /** Private objects: never put a CDN in front of it. */
  privatePrefix: string;
  /** Clients may write here while their URLs are valid, so nothing is ever served from here. */
  stagedOf(key: string): string;
  stagedPrefix: string;
  probePrefix: string;
}

export function createObjectNames(prefix: string): ObjectNames {
  const [finalPrefix, privatePrefix] = [`${prefix}f/`, `${prefix}${apartMark}`];
  const [stagedPrefix, probePrefix] = [`${prefix}staging/`, `${prefix}probe/`];
  return {
    finalOf: (key) => (isApart(key) ? prefix + key : finalPrefix + key),
    keyOf: (name) =>
      name.startsWith(privatePrefix) ? name.slice(prefix.length) : name.slice(finalPrefix.length),
    finalPrefix,
    privatePrefix,
    // Fixed length, without characters that a client or proxy could change.
    stagedOf: (key) => stagedPrefix + hash("sha256", key),
    stagedPrefix,
    probePrefix,
  };
}

/** Most strings need no encoding, and checking costs a fraction of encoding. */
const unreserved = /^[\w.~-]*$/;

/** RFC 3986: encodes everything but the unreserved characters, as signatures require. */
export function encodeUri(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, percentEncode);
}

/** An object's path: slashes are kept, even doubled, leading and trailing ones. */
export function encodePath(key: string): string {
  return key.split("/").map(encodeUri).join("/");
}

/** Sorted by name, as signatures require. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeUri(name)}=${encodeUri(value)}`)
    .sort()
    .join("&");
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
