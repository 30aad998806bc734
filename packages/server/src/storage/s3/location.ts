import { encodePath } from "./uri.ts";

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
