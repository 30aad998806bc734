import type { S3Config } from "../../config/s3.ts";

/** Names a bucket and the folder in it, for people and to compare; without credentials. */
export function describeBucket({ bucket, endpoint, region, prefix }: S3Config): string {
  return `s3://${bucket}/${prefix} at ${endpoint ?? `Amazon, ${region}`}`;
}

export function describeDatabase(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
}
